// SPDX-License-Identifier: Apache-2.0
#include "suites/ttft/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "suites/harness/seconds.h"
#include "suites/serving/tier_report.h"
#include "suites/ttft/plan_metrics.h"
#include "suites/ttft/ratios.h"
#include "suites/ttft/whole_model.h"

namespace kvroof {
namespace {

std::uint64_t loaded_tokens(const Session& s, ChunkRange loaded) {
  return std::uint64_t{loaded.count} * s.chunk_tokens();
}

// What is computed before, or beside, the load.
std::uint64_t front_tokens(const Session& s, const RequestBatch& batch, ChunkRange loaded) {
  return loaded.count == 0 ? batch.context_tokens : std::uint64_t{loaded.first} * s.chunk_tokens();
}

double request_flops(const ModelShape& shape, std::uint32_t past, std::uint32_t tokens) {
  return prefill_flops(shape, past, tokens) + head_flops(shape);
}

void add_times(const GroupRun& run, PlanMetrics& to) {
  to.add("ttft", "s", [](const Restore& r) { return seconds(r.ttft); });
  if (run.batch.requests.size() > 1) {
    to.add("ttft_median_request", "s", [](const Restore& r) { return seconds(r.ttft_median); });
  }
}

void add_whole_model(const Session& s, const GroupRun& run, const PlanRuns& runs,
                     const ModelShape& whole, PlanMetrics& to, Case& made) {
  const auto stretch = find_stretch(s, run.batch, runs, whole);
  if (!stretch) return;
  Metric all = to.make("s", [&](const Restore& r) { return stretch->ttft(r); });
  all.basis = std::max(made.basis, Basis::calibrated);
  made.metrics.emplace_back("ttft_scaled", std::move(all));
}

void add_recompute(const Session& s, const Ceilings& roofs, const GroupRun& run, PlanMetrics& to) {
  const double flops = request_flops(s.shape, 0, run.batch.context_tokens) *
                       static_cast<double>(run.batch.requests.size());
  to.add("mfu", "ratio", [&](const Restore& r) { return flops / seconds(r.ttft) / roofs.flops; });
  to.add("flop_rate", "FLOP/s", [&](const Restore& r) { return flops / seconds(r.ttft); });
  to.constant("compute_ceiling", "FLOP/s", roofs.flops);
  to.count("flops", "FLOP", static_cast<std::uint64_t>(std::llround(flops)));
}

// Of the last run; the others have the same chunks, but for what an adaptive policy learns.
void add_disk(const Session& s, const Restore& last, PlanMetrics& to) {
  const std::uint64_t chunk_bytes = s.engines.front()->tier().chunk_bytes;
  to.count("chunks_from_disk", "chunks", last.chunks_from_disk);
  to.count("bytes_from_disk", "bytes", last.chunks_from_disk * chunk_bytes);
  if (last.chunks_from_disk == 0) return;
  to.add("disk_time", "s", [](const Restore& r) { return seconds(r.disk_reading); });
  to.add("disk_bandwidth", "bytes/s", [chunk_bytes](const Restore& r) {
    const auto bytes = static_cast<double>(r.chunks_from_disk * chunk_bytes);
    return bytes > 0 ? bytes / seconds(r.disk_reading) : 0;
  });
}

void add_load(const Session& s, const Ceilings& roofs, const GroupRun& run, const PlanRuns& runs,
              PlanMetrics& to) {
  const Restore& last = runs.restores.back();
  const auto bytes = static_cast<double>(last.bytes_loaded);
  const auto requests = run.batch.requests.size();
  const std::uint64_t loaded = loaded_tokens(s, runs.loaded);
  to.count("bytes_loaded", "bytes", last.bytes_loaded);
  to.count("tokens_loaded", "tokens", requests * loaded);
  // A request that is cached whole repeats its last token.
  to.count("tokens_recomputed", "tokens",
           requests * std::max<std::uint64_t>(1, run.batch.context_tokens - loaded));
  to.count("tokens_lost_to_rounding", "tokens", requests * (run.reach % s.chunk_tokens()));
  to.count("chunks_loaded", "chunks", last.chunks_loaded);
  to.count("regions_loaded", "regions", last.regions_loaded);
  if (s.spec.disk_bytes > 0) add_disk(s, last, to);
  if (last.bytes_loaded == 0) return;
  to.add("load_time", "s", [](const Restore& r) { return seconds(r.load); });
  if (runs.plan == PlanKind::copy) {
    to.add("after_load_share", "ratio",
           [](const Restore& r) { return seconds(r.ttft - r.load_end) / seconds(r.ttft); });
  }
  to.add("copy_bandwidth", "bytes/s", [&](const Restore& r) { return bytes / seconds(r.load); });
  to.add("link_share", "ratio",
         [&](const Restore& r) { return bytes / seconds(r.load) / roofs.link_in; });
  to.constant("link_ceiling", "bytes/s", roofs.link_in);
}

void add_verification(const Verification& seen, PlanMetrics& to, Case& made) {
  to.count("regions_verified", "regions", seen.regions_checked);
  if (!seen.logit_difference) return;
  made.metrics.emplace_back("logit_difference", modelled_metric("ratio", *seen.logit_difference));
}

// In every sample bytes must reconcile with hits, and no load may have failed.
std::string complaint(const Session& s, const GroupRun& run, const PlanRuns& runs) {
  const std::uint64_t requests = run.batch.requests.size();
  std::uint64_t expected = 0;
  for (std::size_t group = 0; group < s.kv.size(); ++group) {
    const ChunkRange range = needed_chunks(s, run.batch, runs.loaded, group);
    expected += requests * range.count * s.spec.blocks_per_chunk * s.kv[group].block_bytes();
  }
  for (const Restore& one : runs.restores) {
    if (one.failed_loads > 0) {
      return fmt::format("{} of {} loads failed and were recomputed", one.failed_loads, requests);
    }
    if (one.bytes_loaded != expected) {
      return fmt::format("{} bytes were loaded where the hits have {}", one.bytes_loaded, expected);
    }
  }
  return {};
}

void fail(Case& made, Outcome outcome, const std::string& why) {
  made.outcome = outcome;
  made.reason = why;
  made.metrics.clear();
}

}  // namespace

void fill_metrics(const Session& s, const Ceilings& roofs, const GroupRun& run,
                  const ModelShape* whole, std::vector<Case>& cases) {
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const PlanRuns& runs = run.plans[i];
    Case& made = cases[i];
    if (!runs.status.ok()) {
      const bool cannot =
          runs.status.code == Code::unsupported || runs.status.code == Code::no_memory;
      fail(made, cannot ? Outcome::skipped : Outcome::failed, runs.status.text);
      continue;
    }
    if (runs.plan != PlanKind::recompute) made.tier = tier_json(s);
    PlanMetrics to(s, runs, made);
    add_times(run, to);
    if (whole) add_whole_model(s, run, runs, *whole, to, made);
    if (runs.plan == PlanKind::recompute) {
      add_recompute(s, roofs, run, to);
      if (run.verification.not_finite) fail(made, Outcome::incorrect, run.verification.wrong);
      continue;
    }
    if (runs.plan == PlanKind::hybrid) {
      to.count("front_tokens", "tokens", front_tokens(s, run.batch, runs.loaded));
    }
    add_load(s, roofs, run, runs, to);
    add_verification(run.verification, to, made);
    if (const std::string why = complaint(s, run, runs); !why.empty()) {
      fail(made, Outcome::failed, why);
    } else if (!run.verification.wrong.empty()) {
      fail(made, Outcome::incorrect, run.verification.wrong);
    }
  }
  add_ratios(s, run, cases);
}

}  // namespace kvroof
