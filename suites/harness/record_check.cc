// SPDX-License-Identifier: Apache-2.0
#include "suites/harness/record_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "suites/harness/grid_axes.h"

namespace kvroof {
namespace {

Status invalid(std::string text) { return {Code::invalid, std::move(text)}; }

bool one_of(std::string_view word, std::span<const std::string_view> list) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

bool is_name(std::string_view text) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !text.empty() && text[0] >= 'a' && text[0] <= 'z' &&
         std::all_of(text.begin(), text.end(), fits);
}

Status check_bounds(std::string_view what, const Bounds& bounds, double middle) {
  if (!std::isfinite(bounds.low) || !std::isfinite(bounds.high)) {
    return invalid(fmt::format("{}: ci95 is not finite", what));
  }
  if (!(bounds.low < bounds.high)) {
    return invalid(
        fmt::format("{}: ci95 must be wider than zero; leave out what was not drawn or "
                    "sampled",
                    what));
  }
  if (middle < bounds.low || middle > bounds.high) {
    return invalid(fmt::format("{}: ci95 must lie around the median", what));
  }
  return {};
}

Status check_count(std::string_view what, const Metric& metric) {
  if (metric.median || metric.ci95 || !metric.samples.empty() || metric.samples_enough) {
    return invalid(fmt::format("{}: a count has its value alone", what));
  }
  return {};
}

Status check_metric(std::string_view what, const Metric& metric) {
  if (!is_name(what))
    return invalid(fmt::format("'{}' is no name of a metric: use a-z 0-9 _", what));
  if (!one_of(metric.unit, kUnits)) {
    return invalid(fmt::format("{}: unit '{}' is none of the record's", what, metric.unit));
  }
  if (metric.value) return check_count(what, metric);
  if (!metric.median || !std::isfinite(*metric.median)) {
    return invalid(fmt::format("{}: a finite median or a value is expected", what));
  }
  const auto finite = [](double sample) { return std::isfinite(sample); };
  if (!std::all_of(metric.samples.begin(), metric.samples.end(), finite)) {
    return invalid(fmt::format("{}: every sample must be finite", what));
  }
  if (!std::all_of(metric.draws.begin(), metric.draws.end(), finite)) {
    return invalid(fmt::format("{}: every draw must be finite", what));
  }
  if (!metric.samples.empty() && !metric.samples_enough) {
    return invalid(fmt::format("{}: samples need samples_enough beside them", what));
  }
  if (metric.samples_enough.value_or(false) && !metric.ci95) {
    return invalid(fmt::format("{}: samples_enough needs a ci95", what));
  }
  return metric.ci95 ? check_bounds(what, *metric.ci95, *metric.median) : Status{};
}

Status check_params(const Json& params, bool margin_too) {
  if (!params.is_object()) return invalid("params must be an object");
  for (const auto& [key, value] : params.items()) {
    const bool known =
        find_axis(key) || one_of(key, kOtherParams) || (margin_too && key == "margin");
    if (!known) return invalid(fmt::format("params: '{}' is none of the record's names", key));
    if (!value.is_string() && !value.is_number()) {
      return invalid(fmt::format("params: '{}' must be a string or a number", key));
    }
  }
  return {};
}

}  // namespace

Status check_case(const Case& one) {
  if (!is_name(one.suite)) return invalid("a case needs the name of its suite");
  if (one.reason.empty() != (one.outcome == Outcome::ok)) {
    return invalid(fmt::format("a case that is {} must {}have a reason", name(one.outcome),
                               one.outcome == Outcome::ok ? "not " : ""));
  }
  if (Status status = check_params(one.params, false); !status.ok()) return status;
  for (const auto& [key, metric] : one.metrics) {
    if (Status status = check_metric(key, metric); !status.ok()) return status;
    const auto same = [&wanted = key](const auto& other) { return other.first == wanted; };
    if (std::count_if(one.metrics.begin(), one.metrics.end(), same) > 1) {
      return invalid(fmt::format("{}: this metric is there twice", key));
    }
  }
  return {};
}

Status check_answer(const Answer& answer) {
  if (!is_name(answer.question)) return invalid("an answer needs the name of its question");
  if (Status status = check_params(answer.params, true); !status.ok()) return status;
  if (answer.context_tokens.has_value() == (answer.verdict == Verdict::none_in_range)) {
    return invalid("context_tokens must be there except where the verdict is none_in_range");
  }
  if (!answer.ci95) return {};
  if (!answer.context_tokens) return invalid("ci95 of an answer needs context_tokens");
  return check_bounds(answer.question, *answer.ci95, *answer.context_tokens);
}

}  // namespace kvroof
