// SPDX-License-Identifier: Apache-2.0
#include "suites/command/group_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

namespace kvroof {
namespace {

std::string plan_of(const Case& one) { return one.params.value("plan", std::string()); }

// What of a case's metrics is a counter; `alone`: its name does not tell the plans apart.
struct Row {
  std::string_view metric, counter;
  bool alone = false;
};
constexpr Row kRows[] = {
    {"ttft", "_s"},       {"speedup", "_speedup"},       {"gain_over_pure", "gain_over_pure", true},
    {"mfu", "mfu", true}, {"link_share", "_link_share"}, {"bytes_loaded", "_bytes"}};

// "copy_s" and "copy_bytes", but "speedup" and "link_share" are copy's.
std::string counter_name(const std::string& plan, const Row& row) {
  const bool of_copy = plan == "copy" && (row.metric == "speedup" || row.metric == "link_share");
  if (of_copy) return std::string(row.metric);
  return row.alone ? std::string(row.counter) : plan + std::string(row.counter);
}

void add_figures(GroupReport& report, const Case& one) {
  if (const Metric* ttft = find_metric(one, "ttft")) report.seconds += *ttft->median;
  for (const Row& row : kRows) {
    const Metric* metric = find_metric(one, row.metric);
    if (!metric) continue;
    const double figure = metric->value ? static_cast<double>(*metric->value) : *metric->median;
    report.counters.emplace_back(counter_name(plan_of(one), row), figure);
  }
}

std::string basis_of(std::span<const Case> cases) {
  Basis weakest = Basis::measured;
  for (const Case& one : cases) {
    if (one.outcome == Outcome::ok) weakest = std::max(weakest, one.basis);
  }
  return std::string(name(weakest));
}

// "copy skipped: why", where every plan is the same once: "skipped: why".
std::string not_ok(std::span<const Case> cases) {
  std::vector<std::string> all;
  for (const Case& one : cases) {
    if (one.outcome == Outcome::ok) continue;
    all.push_back(fmt::format("{} {}: {}", plan_of(one), name(one.outcome), one.reason));
  }
  const auto same = [&](const Case& one) {
    return one.outcome == cases.front().outcome && one.reason == cases.front().reason;
  };
  if (!all.empty() && std::ranges::all_of(cases, same)) {
    return fmt::format("{}: {}", name(cases.front().outcome), cases.front().reason);
  }
  return fmt::format("{}", fmt::join(all, "; "));
}

}  // namespace

GroupReport group_report(std::span<const Case> cases) {
  GroupReport report;
  bool any_ok = false, only_skipped = true;
  for (const Case& one : cases) {
    any_ok |= one.outcome == Outcome::ok;
    only_skipped &= one.outcome == Outcome::ok || one.outcome == Outcome::skipped;
    if (one.outcome == Outcome::ok) add_figures(report, one);
  }
  const std::string why = not_ok(cases);
  if (!any_ok || !only_skipped) report.error = why;
  report.label = basis_of(cases) + (why.empty() ? "" : "; " + why);
  if (!any_ok) report.label.clear();
  return report;
}

std::vector<std::string> counter_names(std::span<const PlanKind> plans) {
  std::set<std::string> names;
  for (const PlanKind plan : plans) {
    for (const Row& row : kRows) names.insert(counter_name(std::string(name(plan)), row));
  }
  return {names.begin(), names.end()};
}

std::string outcomes(std::span<const Case> cases) {
  const auto same = [&](const Case& one) { return one.outcome == cases.front().outcome; };
  if (std::ranges::all_of(cases, same)) return std::string(name(cases.front().outcome));
  std::vector<std::string> parts;
  for (const Case& one : cases) {
    parts.push_back(fmt::format("{} {}", plan_of(one), name(one.outcome)));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace kvroof
