// SPDX-License-Identifier: Apache-2.0
#include "suites/harness/record.h"

namespace kvroof {
namespace {

Json bounds_json(const Bounds& bounds) { return Json::array({bounds.low, bounds.high}); }

}  // namespace

Metric measured_metric(std::string unit, std::vector<double> samples, bool enough) {
  Metric metric;
  metric.unit = std::move(unit);
  metric.median = median(samples);
  metric.ci95 = median_interval(samples);
  metric.samples_enough = enough && metric.ci95;
  metric.samples = std::move(samples);
  return metric;
}

Metric modelled_metric(std::string unit, double value, std::vector<double> draws) {
  Metric metric;
  metric.unit = std::move(unit);
  metric.median = value;
  metric.ci95 = drawn_interval(draws, value);
  metric.draws = std::move(draws);
  return metric;
}

Metric count_metric(std::string unit, std::uint64_t value) {
  Metric metric;
  metric.unit = std::move(unit);
  metric.value = value;
  return metric;
}

Metric ratio_metric(const Metric& numerator, const Metric& denominator) {
  std::vector<double> draws;
  if (numerator.draws.size() == denominator.draws.size()) {
    for (std::size_t i = 0; i < numerator.draws.size(); ++i) {
      draws.push_back(numerator.draws[i] / denominator.draws[i]);
    }
  }
  Metric metric =
      modelled_metric("ratio", *numerator.median / *denominator.median, std::move(draws));
  if (numerator.samples.empty() || denominator.samples.empty()) return metric;
  metric.ci95 = ratio_interval(numerator.samples, denominator.samples);
  metric.samples_enough = numerator.samples_enough.value_or(false) &&
                          denominator.samples_enough.value_or(false) && metric.ci95;
  return metric;
}

Metric scaled_metric(const Metric& metric, double factor, std::string unit) {
  Metric scaled = metric;
  scaled.unit = std::move(unit);
  if (scaled.median) *scaled.median *= factor;
  if (scaled.ci95) scaled.ci95 = Bounds{scaled.ci95->low * factor, scaled.ci95->high * factor};
  for (double& sample : scaled.samples) sample *= factor;
  for (double& draw : scaled.draws) draw *= factor;
  return scaled;
}

Json to_json(const Metric& metric) {
  Json json = {{"unit", metric.unit}};
  if (metric.value) json["value"] = *metric.value;
  if (metric.median) json["median"] = *metric.median;
  if (metric.ci95) json["ci95"] = bounds_json(*metric.ci95);
  if (!metric.samples.empty()) json["samples"] = metric.samples;
  if (metric.samples_enough) json["samples_enough"] = *metric.samples_enough;
  if (metric.basis) json["basis"] = name(*metric.basis);
  return json;
}

const Metric* find_metric(const Case& one, std::string_view name) {
  for (const auto& [key, metric] : one.metrics) {
    if (key == name) return &metric;
  }
  return nullptr;
}

Json to_json(const Case& one) {
  Json json = {{"suite", one.suite},
               {"params", one.params},
               {"outcome", name(one.outcome)},
               {"reason", one.reason},
               {"basis", name(one.basis)}};
  if (!one.tier.is_null()) json["tier"] = one.tier;
  if (!one.copy_auto.is_null()) json["copy_auto"] = one.copy_auto;
  json["metrics"] = Json::object();
  for (const auto& [key, metric] : one.metrics) json["metrics"][key] = to_json(metric);
  return json;
}

Json to_json(const Answer& answer) {
  Json json = {{"question", answer.question}, {"params", answer.params}};
  json["context_tokens"] = answer.context_tokens ? Json(*answer.context_tokens) : Json(nullptr);
  if (answer.ci95) json["ci95"] = bounds_json(*answer.ci95);
  json["verdict"] = name(answer.verdict);
  json["basis"] = name(answer.basis);
  return json;
}

Json to_json(const RunHeader& header) {
  return {{"schema_version", kSchemaVersion}, {"tool", header.tool},  {"argv", header.argv},
          {"started", header.started},        {"seed", header.seed},  {"system", header.system},
          {"device", header.device},          {"model", header.model}};
}

}  // namespace kvroof
