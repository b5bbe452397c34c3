// SPDX-License-Identifier: Apache-2.0
// What the suite would do with a group, by arithmetic alone.
#include <algorithm>

#include "suites/ttft/copied.h"
#include "suites/ttft/ttft.h"

namespace kvroof {
namespace {

double flops_after(const ModelShape& shape, const GridPoint& p, std::uint64_t past) {
  return p.batch * (prefill_flops(shape, past, p.context_tokens - past) + head_flops(shape));
}

PlannedCase planned(const ModelShape& shape, const SessionSpec& spec, const GridPoint& p,
                    PlanKind plan) {
  PlannedCase made;
  made.plan = plan;
  made.counted = plan != PlanKind::hybrid;
  if (plan == PlanKind::recompute) {
    made.flops = flops_after(shape, p, 0);
    return made;
  }
  const std::uint64_t chunk = std::uint64_t{p.block_tokens} * p.blocks_per_chunk;
  const Copied one = copied(shape, spec, p.context_tokens);
  if (spec.host_tier_bounded && p.batch * one.bytes > p.host_tier.bytes) made.counted = false;
  made.bytes = p.batch * one.bytes;
  made.regions = p.batch * one.regions;
  const std::uint64_t cached = p.context_tokens / chunk * chunk;
  made.flops = flops_after(shape, p, std::min(cached, p.context_tokens - 1));
  return made;
}

}  // namespace

GroupPlan TtftSuite::plan(const ComparisonGroup& group) {
  const GridPoint& p = group.point;
  const SessionSpec spec = own_spec(p);
  const Status whole = group_can_run(p);
  GroupPlan made;
  made.dtype = spec.dtype;
  made.sampling_seconds = kGroupSamplingSeconds;
  bool copies = false;
  for (const PlanKind plan : group.plans) {
    PlannedCase one = planned(setup_.shape, spec, p, plan);
    one.reason = why_not(p, plan);
    if (one.reason.empty()) one.reason = whole.text;
    copies |= one.reason.empty() && plan != PlanKind::recompute;
    made.cases.push_back(std::move(one));
  }
  if (!copies || !setup_.device.info().virtual_time || !spec.backed) return made;
  for (const KvLayout& kv : session_layouts(setup_.shape, spec)) {
    made.contents += kv.cache_bytes();
  }
  return made;
}

}  // namespace kvroof
