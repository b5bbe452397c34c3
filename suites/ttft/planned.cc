// SPDX-License-Identifier: Apache-2.0
// What the suite would do with a group, by arithmetic alone.
#include <algorithm>

#include "suites/ttft/ttft.h"

namespace kvroof {
namespace {

// Chunks of one request that layers with `window` load, of `chunks` in all.
std::uint64_t needed(std::uint64_t chunks, std::uint64_t chunk, std::uint64_t context,
                     std::uint32_t window) {
  const std::uint64_t past = std::min(chunks * chunk, context - 1);
  if (window == 0 || past + 1 <= window) return chunks;
  return chunks - std::min(chunks, (past + 1 - window) / chunk);
}

// KV of all requests' whole chunks, one pass.
void add_copies(const ModelShape& shape, const SessionSpec& spec, const GridPoint& p,
                PlannedCase& to) {
  const std::uint64_t chunk = std::uint64_t{p.block_tokens} * p.blocks_per_chunk;
  for (const KvLayout& kv : session_layouts(shape, spec)) {
    const std::uint64_t blocks =
        p.batch * p.blocks_per_chunk *
        needed(p.context_tokens / chunk, chunk, p.context_tokens, kv.window);
    to.bytes += blocks * kv.block_bytes();
    to.regions += blocks * kv.regions_per_block();
  }
}

double flops_after(const ModelShape& shape, const GridPoint& p, std::uint64_t past) {
  return p.batch * (prefill_flops(shape, past, p.context_tokens - past) + head_flops(shape));
}

PlannedCase planned(const ModelShape& shape, const SessionSpec& spec, const GridPoint& p,
                    PlanKind plan) {
  PlannedCase made;
  made.plan = name(plan);
  made.counted = plan != PlanKind::hybrid;
  if (plan == PlanKind::recompute) {
    made.flops = flops_after(shape, p, 0);
    return made;
  }
  const std::uint64_t chunk = std::uint64_t{p.block_tokens} * p.blocks_per_chunk;
  add_copies(shape, spec, p, made);
  const std::uint64_t cached = p.context_tokens / chunk * chunk;
  made.flops = flops_after(shape, p, std::min(cached, p.context_tokens - 1));
  return made;
}

}  // namespace

GroupPlan TtftSuite::plan(const ComparisonGroup& group) {
  const GridPoint& p = group.point;
  const SessionSpec spec = own_spec(p);
  const Status whole = whole_group_skipped(p);
  GroupPlan made;
  made.dtype = spec.dtype;
  made.sampling_seconds = kMaxSeconds;
  bool copies = false;
  for (const PlanKind plan : group.plans) {
    PlannedCase one = planned(options_.shape, spec, p, plan);
    one.reason = why_not(p, plan);
    if (one.reason.empty()) one.reason = whole.text;
    copies |= one.reason.empty() && plan != PlanKind::recompute;
    made.cases.push_back(std::move(one));
  }
  if (!copies || !device_.info().virtual_time || !spec.backed) return made;
  for (const KvLayout& kv : session_layouts(options_.shape, spec)) {
    made.contents += kv.cache_bytes();
  }
  return made;
}

}  // namespace kvroof
