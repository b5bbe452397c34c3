// SPDX-License-Identifier: Apache-2.0
#include "suites/command/group_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace kvroof {
namespace {

std::string plan_of(const Case& one) { return one.params.value("plan", std::string()); }

void add(GroupReport& report, const Case& one) {
  if (one.outcome != Outcome::ok) {
    report.error = fmt::format("{}: {}", name(one.outcome), one.reason);
    return;
  }
  for (const auto& [key, metric] : one.metrics) {
    if (key == "ttft") report.seconds += *metric.median;
    if (key == "ttft") report.counters.emplace_back(plan_of(one) + "_s", *metric.median);
    if (key == "speedup") report.counters.emplace_back("speedup", *metric.median);
  }
}

}  // namespace

GroupReport group_report(std::span<const Case> cases) {
  GroupReport report;
  for (const Case& one : cases) add(report, one);
  return report;
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
