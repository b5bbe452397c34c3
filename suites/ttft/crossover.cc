// SPDX-License-Identifier: Apache-2.0
#include "suites/ttft/crossover.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>

namespace kvroof {
namespace {

constexpr double kMargins[] = {1.0, 1.1, 2.0};

struct Speedup {
  std::uint64_t context = 0;
  Metric metric;
};

struct Series {
  Json params;
  Basis basis = Basis::measured;
  std::vector<Speedup> points;
};

// Params that may differ within a series: the context, and whether data moved, which follows it.
Json series_params(const Case& one) {
  Json params = one.params;
  params.erase("context_tokens");
  params.erase("data");
  return params;
}

std::map<std::string, Series> collect(std::span<const Case> cases) {
  std::map<std::string, Series> all;
  for (const Case& one : cases) {
    const Metric* speedup = find_metric(one, "speedup");
    if (one.outcome != Outcome::ok || !speedup) continue;
    const Json params = series_params(one);
    Series& series = all[params.dump()];
    series.params = params;
    series.basis = std::max(series.basis, one.basis);
    series.points.push_back({one.params.at("context_tokens").get<std::uint64_t>(), *speedup});
  }
  for (auto& [key, series] : all) {
    std::sort(series.points.begin(), series.points.end(),
              [](const Speedup& a, const Speedup& b) { return a.context < b.context; });
  }
  return all;
}

bool straddles(const Speedup& point, double margin) {
  const auto& ci = point.metric.ci95;
  return ci && ci->low < margin && margin < ci->high;
}

Answer answer(const Series& series, double margin) {
  Answer made;
  made.question = "crossover";
  made.params = series.params;
  made.params["margin"] = margin;
  made.basis = series.basis;
  auto first = series.points.end();
  while (first != series.points.begin() && *std::prev(first)->metric.median >= margin) --first;
  if (first == series.points.end()) return made;
  made.context_tokens = static_cast<double>(first->context);
  made.verdict = first == series.points.begin() ? Verdict::below_smallest : Verdict::found;
  if (straddles(*first, margin)) made.verdict = Verdict::inside_interval;
  return made;
}

}  // namespace

std::vector<Answer> crossovers(std::span<const Case> cases) {
  std::vector<Answer> answers;
  for (const auto& [key, series] : collect(cases)) {
    for (const double margin : kMargins) answers.push_back(answer(series, margin));
  }
  return answers;
}

}  // namespace kvroof
