// SPDX-License-Identifier: Apache-2.0
#include "suites/harness/crossover_answers.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace kvroof {
namespace {

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

// In the order in which they come up.
std::vector<Series> collect(std::span<const Case> cases, std::string_view metric) {
  std::vector<Series> all;
  std::map<std::string, std::size_t> places;
  for (const Case& one : cases) {
    const Metric* speedup = find_metric(one, metric);
    if (one.outcome != Outcome::ok || !speedup) continue;
    const Json params = series_params(one);
    const auto [place, is_new] = places.emplace(params.dump(), all.size());
    if (is_new) all.push_back({params, Basis::measured, {}});
    Series& series = all[place->second];
    series.basis = std::max(series.basis, one.basis);
    series.points.push_back({one.params.at("context_tokens").get<std::uint64_t>(), *speedup});
  }
  for (Series& series : all) {
    std::sort(series.points.begin(), series.points.end(),
              [](const Speedup& a, const Speedup& b) { return a.context < b.context; });
  }
  return all;
}

bool straddles(const Speedup& point, double margin) {
  const auto& ci = point.metric.ci95;
  return ci && ci->low < margin && margin < ci->high;
}

// The smallest context from which `speedup_at` holds the margin up to the last; empty: none.
template <class SpeedupAt>
std::optional<double> crossover_of(const Series& series, double margin, SpeedupAt speedup_at) {
  auto first = series.points.end();
  while (first != series.points.begin() && speedup_at(*std::prev(first)) >= margin) --first;
  if (first == series.points.end()) return std::nullopt;
  return static_cast<double>(first->context);
}

// Of the crossovers of the draws; empty where it has no end: a draw in forty or more has none.
std::optional<Bounds> drawn_crossovers(const Series& series, double margin, double nominal) {
  const std::size_t draws = series.points.front().metric.draws.size();
  std::vector<double> found;
  for (std::size_t i = 0; i < draws; ++i) {
    const auto at = [i](const Speedup& point) { return point.metric.draws[i]; };
    found.push_back(crossover_of(series, margin, at).value_or(HUGE_VAL));
  }
  const auto bounds = drawn_interval(found, nominal);
  return bounds && std::isfinite(bounds->high) ? bounds : std::nullopt;
}

bool same_draws(const Series& series) {
  const std::size_t draws = series.points.front().metric.draws.size();
  return std::ranges::all_of(
      series.points, [draws](const Speedup& point) { return point.metric.draws.size() == draws; });
}

Answer answer(const Series& series, std::string_view question, double margin) {
  Answer made;
  made.question = question;
  made.params = series.params;
  made.params["margin"] = margin;
  made.basis = series.basis;
  made.context_tokens =
      crossover_of(series, margin, [](const Speedup& point) { return *point.metric.median; });
  if (!made.context_tokens) {
    if (!straddles(series.points.back(), margin)) return made;
    made.context_tokens = static_cast<double>(series.points.back().context);
    made.verdict = Verdict::inside_interval;  // it may hold there, and has no upper end
    return made;
  }
  const auto first = std::ranges::find(series.points, *made.context_tokens, [](const Speedup& p) {
    return static_cast<double>(p.context);
  });
  made.verdict = first == series.points.begin() ? Verdict::below_smallest : Verdict::found;
  if (straddles(*first, margin)) made.verdict = Verdict::inside_interval;
  if (same_draws(series)) made.ci95 = drawn_crossovers(series, margin, *made.context_tokens);
  return made;
}

}  // namespace

std::vector<Answer> crossovers(std::span<const Case> cases, std::string_view question,
                               std::string_view metric) {
  std::vector<Answer> answers;
  for (const Series& series : collect(cases, metric)) {
    for (const double margin : kMargins) answers.push_back(answer(series, question, margin));
  }
  return answers;
}

std::vector<Answer> crossovers(std::span<const Case> cases) {
  return crossovers(cases, "crossover", "speedup");
}

}  // namespace kvroof
