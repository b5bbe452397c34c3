// SPDX-License-Identifier: Apache-2.0
#include "suites/harness/record_parse.h"

#include <string>

namespace kvroof {
namespace {

// The functions below throw Json::exception, which parse_case() turns into a Status.

template <class Enum>
Enum by_name(const Json& json, Enum last) {
  const std::string text = json.get<std::string>();
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    if (name(static_cast<Enum>(i)) == text) return static_cast<Enum>(i);
  }
  throw Json::other_error::create(501, "'" + text + "' is not known", &json);
}

template <class T>
std::optional<T> optional(const Json& json, const char* key) {
  const auto it = json.find(key);
  return it == json.end() ? std::nullopt : std::optional<T>(it->template get<T>());
}

Metric metric_of(const Json& json) {
  Metric metric;
  metric.unit = json.at("unit").get<std::string>();
  metric.value = optional<std::uint64_t>(json, "value");
  metric.median = optional<double>(json, "median");
  metric.samples_enough = optional<bool>(json, "samples_enough");
  if (const auto ci = json.find("ci95"); ci != json.end()) {
    metric.ci95 = Bounds{ci->at(0).get<double>(), ci->at(1).get<double>()};
  }
  if (json.contains("samples")) metric.samples = json["samples"].get<std::vector<double>>();
  if (json.contains("basis")) metric.basis = by_name(json["basis"], Basis::datasheet);
  return metric;
}

}  // namespace

Result<Metric> parse_metric(const Json& json) try {
  return metric_of(json);
} catch (const Json::exception& error) {
  return Status{Code::invalid, reason(error)};
}

Result<Basis> parse_basis(const Json& json) try {
  return by_name(json, Basis::datasheet);
} catch (const Json::exception& error) {
  return Status{Code::invalid, reason(error)};
}

Result<Case> parse_case(const Json& json) try {
  Case one;
  one.suite = json.at("suite").get<std::string>();
  one.params = json.at("params");
  one.outcome = by_name(json.at("outcome"), Outcome::incorrect);
  one.reason = json.at("reason").get<std::string>();
  one.basis = by_name(json.at("basis"), Basis::datasheet);
  one.tier = json.value("tier", Json());
  one.copy_auto = json.value("copy_auto", Json());
  for (const auto& [key, metric] : json.at("metrics").items()) {
    one.metrics.emplace_back(key, metric_of(metric));
  }
  return one;
} catch (const Json::exception& error) {
  return Status{Code::invalid, reason(error)};
}

}  // namespace kvroof
