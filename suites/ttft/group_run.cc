// SPDX-License-Identifier: Apache-2.0
#include "suites/ttft/group_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "suites/harness/seconds.h"
#include "suites/serving/hybrid.h"
#include "suites/serving/kv_contents.h"
#include "transfer/limits/limits.h"

namespace kvroof {
namespace {

constexpr std::uint32_t kWarmUpTokens = 256;

bool has(const std::vector<PlanKind>& plans, PlanKind plan) {
  return std::find(plans.begin(), plans.end(), plan) != plans.end();
}

// Why there is nothing to load.
Status not_held(const Session& s, const RequestBatch& batch) {
  std::uint64_t bytes = 0;
  for (const auto& engine : s.engines) bytes += engine->tier().bytes;
  return {Code::unsupported,
          fmt::format("the host tier of {} bytes has no room for the beginnings of {} prefixes of "
                      "{} chunks each: give --host-tier more",
                      bytes, batch.requests.size(), batch.chunks)};
}

Result<Restore> run_plan(Session& s, const RequestBatch& batch, ChunkRange loaded,
                         const ServingCost& cost) {
  if (loaded.count > 0) {
    if (Status e = evict(s, batch); !e.ok()) return e;
    if (held_chunks(s, batch).count < loaded.first + loaded.count) return not_held(s, batch);
  }
  return restore(s, batch, loaded, cost);
}

Arm make_arm(Session& s, const GroupRun& run, const ServingCost& cost, PlanRuns& runs) {
  return [&s, &run, &cost, &runs]() -> Result<Observation> {
    const auto done = run_plan(s, run.batch, runs.loaded, cost);
    if (!done) return done.status();
    runs.restores.push_back(*done);
    return Observation{seconds(done->ttft), {}};
  };
}

// Of what is held, what a request may load.
ChunkRange allowed(const Session& s, const GridPoint& point, const RequestBatch& batch,
                   ChunkRange held) {
  const LoadDecision decision = decide_load({.tokens = batch.context_tokens,
                                             .hit_chunks = held.count,
                                             .chunk_tokens = s.chunk_tokens(),
                                             .max_load_tokens = point.max_load_tokens});
  return {held.first, decision.chunks};
}

// Without rounding to chunks.
std::uint64_t reach(const GridPoint& point) {
  std::uint64_t tokens = point.context_tokens;
  for (const std::uint64_t limit : {point.max_offload_tokens, point.max_load_tokens}) {
    if (limit > 0) tokens = std::min(tokens, limit);
  }
  return tokens;
}

Status limited_to_nothing(const Session& s, const GridPoint& point) {
  return {Code::unsupported,
          fmt::format("a limit of {} tokens to offload and {} to load (0: none) leaves no whole "
                      "chunk of {}: give more, or fewer --blocks-per-chunk",
                      point.max_offload_tokens, point.max_load_tokens, s.chunk_tokens())};
}

// What each plan loads, and whether the result is right where that is not known yet.
Status choose_ranges(Session& s, const GridPoint& point, GroupRun& run) {
  const ChunkRange held = allowed(s, point, run.batch, run.verification.held);
  const bool to_nothing = run.reach < s.chunk_tokens();
  for (PlanRuns& runs : run.plans) {
    if (runs.plan == PlanKind::recompute) continue;
    if (held.count == 0) {
      runs.status = to_nothing ? limited_to_nothing(s, point) : not_held(s, run.batch);
      continue;
    }
    if (runs.plan == PlanKind::copy) {
      runs.loaded = held;
      const bool part = held != run.verification.held;  // what is held was verified already
      if (part) verify_range(s, run.batch, held, run.verification);
    }
    if (runs.plan != PlanKind::hybrid) continue;
    const auto split = find_hybrid_split(s, run.batch, held, point.serving_cost);
    if (!split) return split.status();
    runs.loaded = *split;
    const bool cut = split->count > 0 && split->first > 0;  // else it is a pure plan, seen already
    if (cut) verify_range(s, run.batch, *split, run.verification);
  }
  return run.verification.status;
}

SamplerConfig sampling(const Session& s, bool verified, std::uint64_t seed) {
  SamplerConfig config;
  config.warm_ups = verified ? 0 : 1;  // verification has run each plan once
  config.max_seconds = kGroupSamplingSeconds;
  config.virtual_time = s.device.info().virtual_time;
  config.seed = seed;
  return config;
}

// Groups share a host tier. The same tokens in two of them would be hits on each other's chunks,
// whose bytes differ in the last bits where the steps that computed them had other lengths, and
// which may be more than a limit lets this group store.
std::uint64_t own_seed(std::uint64_t seed, const GridPoint& point) {
  return seed * 0x9E3779B97F4A7C15ull + point.context_tokens * 65536 + point.live * 257 +
         point.batch + point.max_offload_tokens * 0xD1B54A32D192ED03ull;
}

void sample(Session& s, const GridPoint& point, std::uint64_t seed, GroupRun& run) {
  std::vector<Arm> arms;
  std::vector<PlanRuns*> able;
  for (PlanRuns& runs : run.plans) {
    if (!runs.status.ok()) continue;
    able.push_back(&runs);
    arms.push_back(make_arm(s, run, point.serving_cost, runs));
  }
  const bool verified = run.verification.logit_difference.has_value();
  const auto samples = sample_interleaved(arms, sampling(s, verified, seed));
  for (std::size_t i = 0; i < samples.size(); ++i) {
    able[i]->status = samples[i].status;
    able[i]->enough = samples[i].enough;
  }
}

// What ran, ran well.
bool none_failed(const GroupRun& run) {
  return std::ranges::all_of(run.plans, [](const PlanRuns& runs) {
    return runs.status.ok() || runs.status.code == Code::unsupported;
  });
}

// Each plan once more, with what it loads as chosen without a draw. Plans that load the same are
// one.
Status run_once_drawn(Session& s, const ServingCost& cost, GroupRun& run) {
  for (PlanRuns& runs : run.plans) {
    if (!runs.status.ok()) continue;
    const PlanRuns& first = *std::ranges::find_if(run.plans, [&runs](const PlanRuns& other) {
      return other.status.ok() && other.loaded == runs.loaded;
    });
    if (&first != &runs) {
      runs.drawn.push_back(first.drawn.back());
      continue;
    }
    if (Status e = offer_evicted(s, run.batch); !e.ok()) return e;
    const auto done = restore(s, run.batch, runs.loaded, cost);
    if (!done) return done.status();
    runs.drawn.push_back(*done);
  }
  return {};
}

// Leaves the parameters as they are, also where a draw fails.
Status run_drawn(Session& s, const ServingCost& cost, const Draws& draws, std::uint64_t seed,
                 GroupRun& run) {
  Status status;
  for (std::uint32_t i = 1; i <= draws.count && status.ok(); ++i) {
    const std::uint64_t own = seed * 0x9E3779B97F4A7C15ull + i;
    status = draws.redraw(own);
    if (status.ok()) status = run_once_drawn(s, draw(cost, own), run);
  }
  const Status back = draws.redraw(0);
  return status.ok() ? back : status;
}

}  // namespace

Result<GroupRun> run_group(Session& s, const GridPoint& point, const std::vector<PlanKind>& plans,
                           const Draws& draws, std::uint64_t seed) {
  const auto context = static_cast<std::uint32_t>(point.context_tokens);
  auto batch = RequestBatch::create(s, context, point.batch, own_seed(seed, point), point.live);
  if (!batch) return batch.status();
  GroupRun run;
  run.batch = std::move(*batch);
  run.batch.by_layer = point.pipeline == PipelineKind::layer;
  run.reach = reach(point);
  run.batch.offloaded =
      chunks_within(run.batch.context_tokens, point.max_offload_tokens, s.chunk_tokens());
  for (const PlanKind plan : plans) run.plans.emplace_back().plan = plan;
  if (has(plans, PlanKind::copy) || has(plans, PlanKind::hybrid)) {
    if (copies_by_choice(s)) run.copies = check_copies(s, run.batch);
    run.verification = verify_and_offload(s, run.batch);
  }
  if (!run.verification.status.ok()) return run.verification.status;
  if (Status e = choose_ranges(s, point, run); !e.ok()) return e;
  sample(s, point, seed, run);
  if (draws.redraw && none_failed(run)) {
    if (Status e = run_drawn(s, point.serving_cost, draws, seed, run); !e.ok()) {
      return e;
    }
  }
  return run;
}

Status warm_up(Session& s) {
  const std::uint32_t tokens = std::min(kWarmUpTokens, s.spec.sequence_tokens);
  const auto batch = RequestBatch::create(s, tokens, 1, 0);
  if (!batch) return batch.status();
  return recompute(s, *batch, {}).status();
}

}  // namespace kvroof
