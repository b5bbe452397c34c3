// SPDX-License-Identifier: Apache-2.0
#include "suites/ttft/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include "suites/ttft/whole_model.h"

namespace kvroof {
namespace {

double seconds(Nanos time) { return std::chrono::duration<double>(time).count(); }

// Turns the samples of one plan into metrics; on virtual time there is one sample, and an interval
// where parameters were drawn.
class PlanMetrics {
 public:
  PlanMetrics(const Session& session, const PlanRuns& runs, Case& to)
      : virtual_time_(session.device.info().virtual_time), runs_(runs), case_(to) {}

  template <class Figure>
  void add(const char* name, const char* unit, Figure figure) {
    case_.metrics.emplace_back(name, make(unit, figure));
  }

  template <class Figure>
  Metric make(const char* unit, Figure figure) const {
    std::vector<double> samples;
    for (const Restore& restore : runs_.restores) samples.push_back(figure(restore));
    if (virtual_time_) {
      std::vector<double> draws;
      for (const Restore& restore : runs_.drawn) draws.push_back(figure(restore));
      return modelled_metric(unit, samples.front(), std::move(draws));
    }
    return measured_metric(unit, std::move(samples), runs_.enough);
  }

  void constant(const char* name, const char* unit, double value) {
    case_.metrics.emplace_back(name, modelled_metric(unit, value));
  }

  void count(const char* name, const char* unit, std::uint64_t value) {
    case_.metrics.emplace_back(name, count_metric(unit, value));
  }

 private:
  bool virtual_time_;
  const PlanRuns& runs_;
  Case& case_;
};

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
  to.count("chunks_loaded", "chunks", last.chunks_loaded);
  to.count("regions_loaded", "regions", last.regions_loaded);
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

const Metric* find_ttft(const Case& made) {
  return made.outcome == Outcome::ok ? &made.metrics.front().second : nullptr;
}

const Metric* ttft_of(PlanKind plan, const GroupRun& run, const std::vector<Case>& cases) {
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (run.plans[i].plan == plan) return find_ttft(cases[i]);
  }
  return nullptr;
}

// Recompute's TTFT over that of the others, and the better pure plan's over hybrid's.
void add_ratios(const GroupRun& run, std::vector<Case>& cases) {
  const Metric* recomputed = ttft_of(PlanKind::recompute, run, cases);
  const Metric* copied = ttft_of(PlanKind::copy, run, cases);
  std::vector<std::pair<std::size_t, std::pair<const char*, Metric>>> found;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Metric* own = find_ttft(cases[i]);
    if (!own || !recomputed || run.plans[i].plan == PlanKind::recompute) continue;
    found.push_back({i, {"speedup", ratio_metric(*recomputed, *own)}});
    if (run.plans[i].plan != PlanKind::hybrid || !copied) continue;
    const Metric* pure = *copied->median < *recomputed->median ? copied : recomputed;
    found.push_back({i, {"gain_over_pure", ratio_metric(*pure, *own)}});
  }
  std::vector<std::size_t> at(cases.size(), 1);  // right behind ttft, in order
  for (auto& [i, metric] : found) {
    auto& metrics = cases[i].metrics;
    metrics.insert(metrics.begin() + static_cast<std::ptrdiff_t>(at[i]++),
                   {metric.first, std::move(metric.second)});
  }
}

const PlanRuns* runs_of(PlanKind plan, const GroupRun& run) {
  const auto found = std::ranges::find(run.plans, plan, &PlanRuns::plan);
  return found == run.plans.end() ? nullptr : &*found;
}

// Recompute's prefill over copy's load, without what a serving engine and the last token add.
void add_speedup_alone(const Session& s, const GroupRun& run, std::vector<Case>& cases) {
  const PlanRuns* recompute = runs_of(PlanKind::recompute, run);
  if (!recompute || !ttft_of(PlanKind::recompute, run, cases)) return;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Metric* load = find_metric(cases[i], "load_time");
    if (run.plans[i].plan != PlanKind::copy || !load) continue;
    const Metric prefill = PlanMetrics(s, *recompute, cases[i]).make("s", [](const Restore& r) {
      return seconds(r.ttft - r.scheduling);
    });
    cases[i].metrics.emplace_back("speedup_alone", ratio_metric(prefill, *load));
  }
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
  add_ratios(run, cases);
  add_speedup_alone(s, run, cases);
}

}  // namespace kvroof
