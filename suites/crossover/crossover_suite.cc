// SPDX-License-Identifier: Apache-2.0
#include "suites/crossover/crossover_suite.h"

#include <utility>

namespace kvroof {
namespace {

const Metric* find(const std::vector<Case>& cases, std::string_view plan, std::string_view metric) {
  for (const Case& one : cases) {
    if (one.params.at("plan") == plan) return find_metric(one, metric);
  }
  return nullptr;
}

}  // namespace

CrossoverSuite::CrossoverSuite(SuiteSetup setup)
    : shape_(setup.shape), timed_(std::move(setup), {.name = "crossover", .moves_data = false}) {}

std::vector<Case> CrossoverSuite::run(const ComparisonGroup& group) {
  std::vector<Case> cases = timed_.run(group);
  add_closed_form(group.point, cases);
  return cases;
}

void CrossoverSuite::add_closed_form(const GridPoint& p, std::vector<Case>& cases) const {
  const Metric* compute = find(cases, "recompute", "compute_ceiling");
  const Metric* link = find(cases, "copy", "link_ceiling");
  if (!compute || !link) return;
  const double flops = prefill_flops(shape_, 0, p.context_tokens) + head_flops(shape_);
  const auto bytes = static_cast<double>(kv_bytes(shape_, p.kv_dtype, p.context_tokens));
  const double balance = *compute->median / *link->median;
  for (Case& one : cases) {
    if (one.params.at("plan") != "copy") continue;
    one.metrics.emplace_back("flops_per_kv_byte", modelled_metric("FLOP/byte", flops / bytes));
    one.metrics.emplace_back("machine_balance", modelled_metric("FLOP/byte", balance));
    one.metrics.emplace_back("pi", modelled_metric("ratio", flops / bytes / balance));
  }
}

}  // namespace kvroof
