// SPDX-License-Identifier: Apache-2.0
#include "suites/serving/restore.h"

#include <algorithm>
#include <cmath>

#include "suites/serving/restore_run.h"

namespace kvroof {
namespace {

constexpr Nanos kNever = Nanos::max();

Nanos nanos(double seconds) { return Nanos(std::llround(seconds * 1e9)); }

}  // namespace

RestoreRun::RestoreRun(Session& session, const RequestBatch& batch, ChunkRange loaded,
                       const ServingCost& cost)
    : s_(session),
      batch_(batch),
      range_(loaded),
      schedule_(nanos(cost.first_step_seconds)),
      prepare_(nanos(cost.prepare_seconds_per_16_tokens * tokens_loaded() / 16.0)),
      live_(session, batch),
      flights_(batch.requests.size()) {
  if (s_.spec.disk_bytes > 0) hops_.emplace(s_);
}

// Whoever hears of a failure may free the batch.
Result<Restore> RestoreRun::run() {
  Result<Restore> result = run_to_end();
  if (!result) (void)s_.prefill->settle();
  return result;
}

Result<Restore> RestoreRun::run_to_end() {
  const Nanos begin = s_.device.now();
  if (live_.any()) {
    if (Status e = live_.step(); !e.ok()) return e;
  }
  if (Status e = drive_until([&] { return forwards_ == flights_.size(); }); !e.ok()) return e;
  Restore result;
  if (Status e = land_loads(begin, result); !e.ok()) return e;
  if (Status e = land_first_tokens(); !e.ok()) return e;
  add_times(begin, result);
  return result;
}

void RestoreRun::add_times(Nanos begin, Restore& result) const {
  std::vector<Nanos> ends;
  for (const Flight& flight : flights_) {
    ends.push_back(flight.end - begin);
    const Nanos front = flight.front == 0 ? Nanos{} : s_.prefill->ended(flight.front);
    result.front_end = std::max(result.front_end, front - begin);
  }
  std::sort(ends.begin(), ends.end());
  result.ttft = ends.back();
  result.ttft_median = ends[(ends.size() - 1) / 2];
  result.scheduling = schedule_;
  result.decode_steps = live_.steps();
  result.outside_layers = s_.prefill->times().outside_layers + schedule_ + prepare_;
}

Status RestoreRun::land_two_hops(Nanos begin, Restore& result) {
  if (range_.count == 0) return {};
  if (Status e = drive_until([&] { return hops_->all_ended(); }); !e.ok()) return e;
  Interval span{kNever, Nanos{}};
  for (std::size_t i = 0; i < flights_.size(); ++i) {
    const TwoHopLoad& seen = hops_->load(i);
    flights_[i].load_failed = !seen.status.ok();
    result.failed_loads += flights_[i].load_failed ? 1 : 0;
    result.bytes_loaded += seen.bytes;
    result.regions_loaded += seen.regions;
    result.chunks_loaded += seen.chunks;
    if (!seen.interval) continue;
    span = {std::min(span.begin, seen.interval->begin), std::max(span.end, seen.interval->end)};
    result.load = span.end - span.begin;
    result.load_end = span.end - begin;
  }
  result.chunks_from_disk = hops_->chunks_read();
  result.disk_reading = hops_->reading();
  return {};
}

Status RestoreRun::land_loads(Nanos begin, Restore& result) {
  if (hops_) return land_two_hops(begin, result);
  Interval span{kNever, Nanos{}};
  for (Flight& flight : flights_) {
    for (std::size_t group = 0; group < flight.loads.size(); ++group) {
      const auto ended = s_.engines[group]->wait(flight.loads[group], kNever);
      if (!ended) return ended.status();
      // What was submitted behind it waits for as long as it does.
      if (ended->status.code == Code::lost) return ended->status;
      flight.load_failed |= !ended->status.ok();
      result.bytes_loaded += ended->bytes;
      result.regions_loaded += ended->regions;
      result.chunks_loaded += ended->chunks - ended->failed_chunks;
      span.begin = std::min(span.begin, ended->interval.begin);
      span.end = std::max(span.end, ended->interval.end);
      result.load = span.end - span.begin;
      result.load_end = span.end - begin;
    }
    result.failed_loads += flight.load_failed ? 1 : 0;
  }
  return {};
}

Status RestoreRun::land_first_tokens() {
  for (std::size_t i = 0; i < flights_.size(); ++i) {
    Flight& flight = flights_[i];
    Status ended = s_.prefill->finish(flight.first_token);
    if (flight.load_failed && ended.code != Code::lost) {
      ended = submit_rest(i, front_tokens(), {});
      if (ended.ok()) ended = s_.prefill->finish(flight.first_token);
    }
    if (!ended.ok()) return ended;
    const Nanos at = s_.prefill->ended(flight.first_token);
    flight.end = at == Nanos{} ? s_.device.now() : at;
  }
  return reap_cpu();
}

Result<Restore> restore(Session& session, const RequestBatch& batch, ChunkRange loaded,
                        const ServingCost& cost) {
  return RestoreRun(session, batch, loaded, cost).run();
}

Result<Restore> recompute(Session& session, const RequestBatch& batch, const ServingCost& cost) {
  return restore(session, batch, {}, cost);
}

Result<Restore> copy(Session& session, const RequestBatch& batch, const ServingCost& cost) {
  return restore(session, batch, all_chunks(batch), cost);
}

}  // namespace kvroof
