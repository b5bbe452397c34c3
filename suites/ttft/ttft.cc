// SPDX-License-Identifier: Apache-2.0
#include "suites/ttft/ttft.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "suites/harness/unavailable.h"
#include "suites/ttft/group_run.h"
#include "suites/ttft/metrics.h"

namespace kvroof {
namespace {

constexpr std::uint32_t kStepTokens = 8192;  // of a forward step, as serving engines cap it
constexpr std::uint64_t kMovedBytes = 1024ull << 20;  // data=auto: both sides of a case, on sim

constexpr std::uint64_t kMostBlocks = 1u << 31;  // block ids are 32 bits wide

std::uint64_t blocks_of(const GridPoint& p) {
  const std::uint64_t sequences = std::uint64_t{p.batch} + p.live;
  return sequences * ((p.context_tokens + p.block_tokens - 1) / p.block_tokens);
}

// A quantised cache goes with bf16 activations and weights.
DType computed_in(DType kv_dtype) { return kv_dtype == DType::f32 ? DType::f32 : DType::bf16; }

// The weakest of what the device prices this model with.
Basis basis_for(const DeviceInfo& info, const ModelShape& shape, const GridPoint& p) {
  Basis basis = info.basis;
  if (p.disk.bytes > 0) basis = std::max(basis, info.op_bases.disk);
  if (shape.experts) basis = std::max(basis, info.op_bases.experts);
  if (shape.latent) basis = std::max(basis, info.op_bases.latent_attention);
  if (shape.ranks > 1) basis = std::max(basis, info.op_bases.all_reduce);
  return basis;
}

bool share_a_cache(const GridPoint& a, const GridPoint& b) {
  return a.kv_dtype == b.kv_dtype && a.layout == b.layout && a.block_tokens == b.block_tokens &&
         a.blocks_per_chunk == b.blocks_per_chunk && a.host_tier == b.host_tier &&
         a.disk == b.disk && a.eviction == b.eviction && a.store == b.store &&
         a.checksum == b.checksum && a.copy == b.copy;
}

// Of a tier that is bounded, the layers without a window get what the others leave.
void bound_tier(const GridPoint& p, const ModelShape& shape, SessionSpec& spec) {
  if (!spec.host_tier_bounded) return;
  const std::uint64_t windows = window_tier_bytes(shape, spec);
  spec.host_tier_bytes = p.host_tier.bytes - std::min(p.host_tier.bytes, windows);
}

// An engine that gave up a lane serves no other group.
bool lost_a_lane(const GroupRun& run) {
  return std::ranges::any_of(run.plans,
                             [](const PlanRuns& plan) { return plan.status.code == Code::lost; });
}

// Ok where a chunk of every group of layers has room.
Status holds_a_chunk(const ModelShape& shape, const SessionSpec& spec) {
  for (const KvLayout& kv : session_layouts(shape, spec)) {
    const std::uint64_t chunk = spec.blocks_per_chunk * kv.block_bytes();
    if (kv.window > 0 || chunk <= spec.host_tier_bytes) continue;
    return {Code::unsupported,
            fmt::format("the host tier has {} bytes for the layers that see all, and one chunk "
                        "takes {}: give --host-tier more, or fewer --blocks-per-chunk",
                        spec.host_tier_bytes, chunk)};
  }
  return {};
}

}  // namespace

TtftSuite::TtftSuite(SuiteSetup setup, TtftOptions options)
    : setup_(std::move(setup)), options_(options) {}

// Why this build or this case can't run the plan; empty where it can.
std::string TtftSuite::why_not(const GridPoint& p, PlanKind plan) {
  if (const std::string_view why = unavailable(p); !why.empty()) return std::string(why);
  const std::uint64_t chunk = std::uint64_t{p.block_tokens} * p.blocks_per_chunk;
  if (plan == PlanKind::recompute || p.context_tokens >= chunk) return {};
  return fmt::format("the context is shorter than one chunk of {} tokens, so nothing can be copied",
                     chunk);
}

std::uint32_t TtftSuite::regions_per_chunk(const GridPoint& p) const {
  const KvLayout kv = make_kv_layout(setup_.shape, p.kv_dtype, p.layout, p.block_tokens, 1);
  return p.blocks_per_chunk * kv.regions_per_block();
}

// Of auto, any path until it was calibrated.
CopyChoice TtftSuite::copy_choice(const GridPoint& p) const {
  if (p.copy.path) return *p.copy.path;
  const auto known = calibrations_.find(regions_per_chunk(p));
  return known == calibrations_.end() ? any_path() : known->second.choice;
}

// Before the session takes the device's memory.
Status TtftSuite::calibrate(const GridPoint& p) {
  const std::uint32_t regions = regions_per_chunk(p);
  if (p.copy.path || calibrations_.contains(regions)) return {};
  session_.reset();
  auto made = calibrate_copy(setup_.device, regions);
  if (made) calibrations_.emplace(regions, std::move(*made));
  return made.status();
}

SessionSpec TtftSuite::own_spec(const GridPoint& p) const {
  SessionSpec spec;
  spec.dtype = computed_in(p.kv_dtype);
  spec.kv_dtype = p.kv_dtype;
  spec.layout = p.layout;
  spec.block_tokens = p.block_tokens;
  spec.blocks_per_chunk = p.blocks_per_chunk;
  spec.blocks = static_cast<std::uint32_t>(blocks_of(p));
  spec.sequences = p.batch + p.live;
  spec.restored = p.batch;
  spec.sequence_tokens = static_cast<std::uint32_t>(p.context_tokens);
  spec.step_tokens = std::min(kStepTokens, spec.sequence_tokens + p.live);
  spec.seed = setup_.seed;
  const std::vector<KvLayout> layouts = session_layouts(setup_.shape, spec);
  const std::uint64_t block_bytes = layouts.front().block_bytes();
  const std::uint64_t restored = blocks_of(p) / spec.sequences * p.batch;
  spec.host_tier_bytes = std::max<std::uint64_t>(restored, spec.blocks_per_chunk) * block_bytes;
  spec.host_tier_bounded = p.host_tier.bytes > 0;
  spec.eviction = p.eviction;
  spec.store = p.store;
  spec.copy = copy_choice(p);
  spec.disk_bytes = p.disk.bytes;
  spec.disk_path = setup_.disk;
  spec.checksum = p.checksum;
  spec.check_tokens = p.check_tokens;
  spec.key_hash = p.key_hash;
  bound_tier(p, setup_.shape, spec);
  std::uint64_t moved = 0;
  for (const KvLayout& kv : layouts) moved += 2 * kv.cache_bytes();
  const bool can_move = options_.moves_data && (p.disk.bytes == 0 || !setup_.disk.empty());
  spec.backed = !setup_.device.info().virtual_time || (can_move && moved <= kMovedBytes);
  return spec;
}

std::uint64_t TtftSuite::bytes_of_requests(const GridPoint& p) const {
  return RequestBatch::device_bytes(setup_.shape, own_spec(p), p.context_tokens, p.batch, p.live);
}

// On a real device, the largest of the sessions that fit: weights are made once for all of them.
SessionSpec TtftSuite::shared_spec(const GridPoint& point) const {
  SessionSpec spec = own_spec(point);
  if (setup_.device.info().virtual_time) return spec;
  std::uint64_t request_bytes = bytes_of_requests(point);
  for (const ComparisonGroup& group : setup_.groups) {
    if (!share_a_cache(group.point, point) || !group_can_run(group.point).ok()) continue;
    const SessionSpec other = own_spec(group.point);
    spec.blocks = std::max(spec.blocks, other.blocks);
    spec.host_tier_bytes = std::max(spec.host_tier_bytes, other.host_tier_bytes);
    spec.step_tokens = std::max(spec.step_tokens, other.step_tokens);
    spec.sequences = std::max(spec.sequences, other.sequences);
    spec.restored = std::max(spec.restored, other.restored);
    spec.sequence_tokens = std::max(spec.sequence_tokens, other.sequence_tokens);
    request_bytes = std::max(request_bytes, bytes_of_requests(group.point));
  }
  bound_tier(point, setup_.shape, spec);
  return fits(setup_.device.info(), setup_.shape, spec, request_bytes).ok() ? spec
                                                                            : own_spec(point);
}

Status TtftSuite::group_can_run(const GridPoint& p) const {
  const DeviceInfo& info = setup_.device.info();
  if (!setup_.unavailable.ok()) return {Code::unsupported, setup_.unavailable.text};
  if (const std::string why = not_computed(setup_.shape); info.computes_values && !why.empty()) {
    return {Code::unsupported, why};
  }
  if (info.computes_values && p.kv_dtype != computed_in(p.kv_dtype)) {
    return {Code::unsupported,
            "this build prices a quantised KV cache on a simulated device and "
            "does not compute with it: use --kv-dtype bf16 or f32"};
  }
  if (const std::string why = why_not_copied(info, p.copy.path.value_or(CopyPath::dma));
      p.copy.path && !why.empty()) {
    return {Code::unsupported, why};
  }
  if (p.context_tokens > setup_.shape.max_position) {
    return {Code::unsupported, fmt::format("{} tokens are more than the model's {} positions",
                                           p.context_tokens, setup_.shape.max_position)};
  }
  if (blocks_of(p) > kMostBlocks) {
    return {Code::unsupported, fmt::format("{} blocks are more than the {} that a cache can have",
                                           blocks_of(p), kMostBlocks)};
  }
  if (!info.virtual_time && p.serving_cost.text != "none") {
    return {Code::unsupported, "a serving cost is modelled by the simulator alone"};
  }
  if (computed_in(p.kv_dtype) == DType::bf16 && !info.bf16_unavailable.empty()) {
    return {Code::unsupported, info.bf16_unavailable};
  }
  if (p.disk.bytes > 0 && kv_groups(setup_.shape).size() > 1) {
    return {Code::unsupported,
            "a disk tier holds the KV of models whose layers all see everything, and some of this "
            "one's have a window: leave out --disk-bytes"};
  }
  const SessionSpec spec = own_spec(p);
  if (Status e = holds_a_chunk(setup_.shape, spec); !e.ok()) return e;
  return fits(info, setup_.shape, spec, bytes_of_requests(p));
}

Status TtftSuite::prepare(const GridPoint& point, const Ceilings& roofs) {
  SessionSpec spec = shared_spec(point);
  spec.copy_timeout = copy_timeout(roofs, setup_.shape, spec);
  if (session_ && session_->spec == spec) return {};
  session_.reset();
  auto session = Session::create(setup_.device, setup_.shape, spec);
  if (!session) return session.status();
  session_ = std::move(*session);
  return setup_.device.info().virtual_time ? Status{} : warm_up(*session_);
}

Result<Ceilings> TtftSuite::ceilings(DType dtype) {
  const auto known = ceilings_.find(dtype);
  if (known != ceilings_.end()) return known->second;
  auto found = find_ceilings(setup_.device, dtype);
  if (found) ceilings_[dtype] = *found;
  return found;
}

Case TtftSuite::blank(const GridPoint& point, PlanKind plan) const {
  Case made;
  made.suite = options_.name;
  made.params = case_params(point, plan);
  if (setup_.whole) made.params["layers"] = setup_.shape.layers;
  made.params["data"] = own_spec(point).backed ? "on" : "off";
  made.basis = basis_for(setup_.device.info(), setup_.shape, point);
  return made;
}

// What this machine or build can't do is skipped; what broke is failed.
Case TtftSuite::skipped(const GridPoint& point, PlanKind plan, const Status& why) const {
  Case made = blank(point, plan);
  const bool cannot = why.code == Code::unsupported || why.code == Code::no_memory;
  made.outcome = cannot ? Outcome::skipped : Outcome::failed;
  made.reason = why.text;
  return made;
}

std::vector<Case> TtftSuite::measure(const ComparisonGroup& group,
                                     const std::vector<PlanKind>& plans) {
  Status why = group_can_run(group.point);
  Result<Ceilings> roofs = Ceilings{};
  if (why.ok()) {
    roofs = ceilings(computed_in(group.point.kv_dtype));
    why = roofs.status();
  }
  if (why.ok()) why = calibrate(group.point);
  if (why.ok()) why = prepare(group.point, *roofs);
  Result<GroupRun> run = why;
  if (why.ok()) {
    run = run_group(*session_, group.point, plans, setup_.draws, setup_.seed);
    why = run.status();
  }
  std::vector<Case> cases;
  for (const PlanKind plan : plans) {
    cases.push_back(why.ok() ? blank(group.point, plan) : skipped(group.point, plan, why));
  }
  const ModelShape* whole = setup_.whole ? &*setup_.whole : nullptr;
  if (why.ok()) fill_metrics(*session_, *roofs, *run, whole, cases);
  if (why.ok() && !group.point.copy.path) add_copy_auto(group.point, *run, cases);
  if (why.code == Code::lost || (why.ok() && lost_a_lane(*run))) session_.reset();
  return cases;
}

void TtftSuite::add_copy_auto(const GridPoint& point, const GroupRun& run,
                              std::vector<Case>& cases) const {
  const CopyCalibration& by = calibrations_.at(regions_per_chunk(point));
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (run.plans[i].plan != PlanKind::recompute) {
      cases[i].copy_auto = copy_auto_json(by, run.copies);
    }
  }
}

std::vector<Case> TtftSuite::run(const ComparisonGroup& group) {
  std::vector<PlanKind> able;
  for (const PlanKind plan : group.plans) {
    if (why_not(group.point, plan).empty()) able.push_back(plan);
  }
  std::vector<Case> measured = able.empty() ? std::vector<Case>{} : measure(group, able);
  std::vector<Case> all;
  std::size_t next = 0;
  for (const PlanKind plan : group.plans) {
    const std::string why = why_not(group.point, plan);
    all.push_back(why.empty() ? std::move(measured[next++])
                              : skipped(group.point, plan, {Code::unsupported, why}));
  }
  return all;
}

}  // namespace kvroof
