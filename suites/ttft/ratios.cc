// SPDX-License-Identifier: Apache-2.0
#include "suites/ttft/ratios.h"

#include <optional>
#include <utility>

#include "suites/harness/seconds.h"
#include "suites/ttft/plan_metrics.h"

namespace kvroof {
namespace {

// Copies: adding a metric to a case moves those that it has.
std::optional<Metric> metric_of(const Case& one, const char* name) {
  const Metric* metric = find_metric(one, name);
  return metric ? std::optional(*metric) : std::nullopt;
}

std::optional<Metric> ttft_of(PlanKind plan, const GroupRun& run, const std::vector<Case>& cases) {
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (run.plans[i].plan == plan) return metric_of(cases[i], "ttft");
  }
  return std::nullopt;
}

// Recompute's time without the serving engine's.
std::optional<Metric> prefill_alone(const Session& s, const GroupRun& run,
                                    std::vector<Case>& cases) {
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (run.plans[i].plan != PlanKind::recompute || !find_metric(cases[i], "ttft")) continue;
    return PlanMetrics(s, run.plans[i], cases[i]).make("s", [](const Restore& r) {
      return seconds(r.ttft - r.scheduling);
    });
  }
  return std::nullopt;
}

void add(Case& to, const char* name, const Metric& numerator, const Metric& denominator) {
  to.metrics.emplace_back(name, ratio_metric(numerator, denominator));
}

}  // namespace

void add_ratios(const Session& s, const GroupRun& run, std::vector<Case>& cases) {
  const std::optional<Metric> recompute = ttft_of(PlanKind::recompute, run, cases);
  const std::optional<Metric> copy = ttft_of(PlanKind::copy, run, cases);
  const std::optional<Metric> prefill = prefill_alone(s, run, cases);
  if (!recompute || !prefill) return;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const PlanKind plan = run.plans[i].plan;
    const std::optional<Metric> own = metric_of(cases[i], "ttft");
    if (!own || plan == PlanKind::recompute) continue;
    add(cases[i], "speedup", *recompute, *own);
    if (plan == PlanKind::hybrid && copy) {
      add(cases[i], "gain_over_pure", *copy->median < *recompute->median ? *copy : *recompute,
          *own);
    }
    const std::optional<Metric> load = metric_of(cases[i], "load_time");
    if (plan == PlanKind::copy && load) add(cases[i], "speedup_alone", *prefill, *load);
  }
}

}  // namespace kvroof
