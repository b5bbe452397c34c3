// SPDX-License-Identifier: Apache-2.0
#include "suites/serving/restore.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

namespace kvroof {
namespace {

constexpr Nanos kNever = Nanos::max();

Nanos nanos(double seconds) { return Nanos(std::llround(seconds * 1e9)); }

// One request on its way.
struct Flight {
  Ticket scheduled = 0, prepared = 0;  // on the CPU lane; 0: not yet, or no time is spent
  Ticket front = 0;                    // the forward pass of what lies before the load; 0: none yet
  TransferId load = 0;                 // 0: none
  bool load_failed = false;
  Ticket first_token = 0;
  Nanos end{};
};

// One CPU turns to the requests in order: it schedules one, submits its front's forward pass,
// prepares its load and starts it. What follows a load is submitted once the load has left the
// engine's lane, while the CPU is at later requests.
class RestoreRun {
 public:
  RestoreRun(Session& session, const RequestBatch& batch, ChunkRange loaded,
             const ServingCost& cost)
      : s_(session),
        batch_(batch),
        range_(loaded),
        schedule_(nanos(cost.first_step_seconds)),
        prepare_(nanos(cost.prepare_seconds_per_16_tokens * blocks_loaded() *
                       (session.kv.block_tokens / 16.0))),
        flights_(batch.requests.size()) {}

  Result<Restore> run() {
    const Nanos begin = s_.device.now();
    if (Status e = drive_until([&] { return forwards_ == flights_.size(); }); !e.ok()) return e;
    Restore result;
    if (Status e = land_loads(begin, result); !e.ok()) return e;
    if (Status e = land_first_tokens(); !e.ok()) return e;
    std::vector<Nanos> ends;
    for (const Flight& flight : flights_) {
      ends.push_back(flight.end - begin);
      const Nanos front = flight.front == 0 ? Nanos{} : s_.prefill->ended(flight.front);
      result.front_end = std::max(result.front_end, front - begin);
    }
    std::sort(ends.begin(), ends.end());
    result.ttft = ends.back();
    result.scheduling = schedule_;
    result.ttft_median = ends[(ends.size() - 1) / 2];
    result.outside_layers = s_.prefill->times().outside_layers + schedule_ + prepare_;
    return result;
  }

 private:
  std::uint32_t chunk_tokens() const { return s_.kv.block_tokens * s_.spec.blocks_per_chunk; }
  std::uint32_t blocks_loaded() const { return range_.count * s_.spec.blocks_per_chunk; }
  std::uint32_t front_tokens() const {
    return range_.count == 0 ? 0 : range_.first * chunk_tokens();
  }

  // At least one token is always computed.
  std::uint32_t past_after_load() const {
    if (range_.count == 0) return 0;
    return std::min((range_.first + range_.count) * chunk_tokens(), batch_.context_tokens - 1);
  }

  std::span<const BlockId> loaded_blocks(const Request& request) const {
    return std::span(request.blocks)
        .subspan(range_.first * s_.spec.blocks_per_chunk, blocks_loaded());
  }

  std::vector<Point> on_cpu(Ticket ticket) const {
    if (ticket == 0) return {};
    return {{s_.cpu.get(), ticket}};
  }

  // Does all that can be done without waiting.
  Status drive() {
    if (Status e = reap_cpu(); !e.ok()) return e;
    if (Status e = s_.engine->poll(); !e.ok()) return e;
    for (;;) {
      Result<bool> progress = advance_forward();
      if (progress && !*progress) progress = advance_cpu();
      if (!progress || !*progress) return progress.status();
    }
  }

  // The CPU's turn ends where the load has begun. False: it has to wait.
  Result<bool> advance_cpu() {
    if (turn_ == flights_.size()) return false;
    Flight& flight = flights_[turn_];
    const Request& request = batch_.requests[turn_];
    if (range_.count == 0 && turn_ > forwards_) return false;
    if (Status e = spend(schedule_, flight.scheduled); !e.ok()) return e;
    if (front_tokens() > 0 && flight.front == 0) {
      if (submitting_) return false;
      const auto front =
          submit(request, request.prefill_front(s_, front_tokens()), on_cpu(flight.scheduled));
      if (!front) return front.status();
      flight.front = *front;
    }
    if (range_.count > 0) {
      if (Status e = spend(prepare_, flight.prepared); !e.ok()) return e;
      if (std::max(flight.scheduled, flight.prepared) > cpu_done_) return false;
      if (Status e = start_load(request, flight); !e.ok()) return e;
    }
    ++turn_;
    return true;
  }

  // Submits what follows the load of the next request, once that load is fenced on. False: nothing
  // to submit yet.
  Result<bool> advance_forward() {
    if (submitting_ || forwards_ == turn_) return false;
    const Request& request = batch_.requests[forwards_];
    Flight& flight = flights_[forwards_];
    std::vector<Point> fences = on_cpu(std::max(flight.scheduled, flight.prepared));
    if (range_.count > 0) {
      const auto blocks = loaded_blocks(request);
      // The lane is in order: while its last copy waits, it is not worth asking for the others.
      if (s_.engine->fences_for_read(blocks.last(1)).code() == Code::busy) return false;
      const auto load = s_.engine->fences_for_read(blocks);
      if (load.code() == Code::busy) return false;
      // Where a copy has failed already, nothing is worth waiting for: the pass will be repeated.
      if (!load && load.code() != Code::failed) return load.status();
      if (load) fences.insert(fences.end(), load->begin(), load->end());
    }
    if (Status e = submit_rest(request, past_after_load(), fences, flight); !e.ok()) return e;
    ++forwards_;
    return true;
  }

  Status submit_rest(const Request& request, std::uint32_t past, std::span<const Point> fences,
                     Flight& flight) {
    const auto ticket = submit(request, request.prefill(s_, past), fences);
    if (ticket) flight.first_token = *ticket;
    return ticket.status();
  }

  // While the compute lane is full, the CPU and the loads go on.
  Result<Ticket> submit(const Request& request, const PrefillRequest& work,
                        std::span<const Point> fences) {
    submitting_ = true;
    const auto ticket =
        s_.prefill->submit({&work, 1}, fences, [this](Point point) { return drive_until(point); });
    submitting_ = false;
    if (!ticket) return ticket;
    const Point by{&s_.prefill->queue(), *ticket};
    const auto blocks = std::span(request.blocks).first(blocks_of(work.past + work.tokens));
    s_.engine->note_write(blocks.subspan(work.past / s_.kv.block_tokens), by);
    s_.engine->note_read(blocks, by);
    return ticket;
  }

  std::uint32_t blocks_of(std::uint32_t tokens) const {
    return (tokens + s_.kv.block_tokens - 1) / s_.kv.block_tokens;
  }

  Status spend(Nanos duration, Ticket& ticket) {
    if (duration.count() == 0 || ticket != 0) return {};
    const auto spent = s_.cpu->submit({{}, Spend{duration}});
    if (spent) ticket = *spent;
    return spent.status();
  }

  Status start_load(const Request& request, Flight& flight) {
    const auto keys = std::span(request.keys).subspan(range_.first, range_.count);
    const auto load = s_.engine->load(keys, loaded_blocks(request));
    if (load) flight.load = *load;
    return load.status();
  }

  Status reap_cpu() {
    Completion done[16];
    for (;;) {
      const auto count = s_.cpu->reap(done);
      if (!count) return count.status();
      if (*count == 0) return {};
      cpu_done_ = done[*count - 1].ticket;
    }
  }

  // The points whose completion lets drive() go on.
  std::vector<Point> open_points() const {
    std::vector<Point> points = s_.engine->open_points();
    if (turn_ < flights_.size()) {
      const Ticket ticket = std::max(flights_[turn_].scheduled, flights_[turn_].prepared);
      if (ticket > cpu_done_) points.push_back({s_.cpu.get(), ticket});
    }
    return points;
  }

  template <class Reached>
  requires std::is_invocable_r_v<bool, Reached> Status drive_until(Reached reached) {
    for (;;) {
      if (Status e = drive(); !e.ok()) return e;
      if (reached()) return {};
      const auto waited = s_.device.wait_any(open_points(), kNever);
      if (!waited) return waited.status();
    }
  }

  Status drive_until(Point point) {
    for (;;) {
      if (Status e = drive(); !e.ok()) return e;
      std::vector<Point> points{point};
      const std::vector<Point> open = open_points();
      points.insert(points.end(), open.begin(), open.end());
      const auto first = s_.device.wait_any(points, kNever);
      if (!first || *first == 0) return first.status();
    }
  }

  Status land_loads(Nanos begin, Restore& result) {
    Interval span{kNever, Nanos{}};
    for (Flight& flight : flights_) {
      if (flight.load == 0) continue;
      const auto ended = s_.engine->wait(flight.load, kNever);
      if (!ended) return ended.status();
      flight.load_failed = !ended->status.ok();
      result.failed_loads += flight.load_failed ? 1 : 0;
      result.bytes_loaded += ended->bytes;
      result.regions_loaded += ended->regions;
      result.chunks_loaded += ended->chunks - ended->failed_chunks;
      span.begin = std::min(span.begin, ended->interval.begin);
      span.end = std::max(span.end, ended->interval.end);
      result.load = span.end - span.begin;
      result.load_end = span.end - begin;
    }
    return {};
  }

  // In order. A request whose load failed was given work behind failed copies, which the device
  // aborted: all but its front is computed again.
  Status land_first_tokens() {
    for (std::size_t i = 0; i < flights_.size(); ++i) {
      Flight& flight = flights_[i];
      Status ended = s_.prefill->finish(flight.first_token);
      if (flight.load_failed && ended.code != Code::lost) {
        ended = submit_rest(batch_.requests[i], front_tokens(), {}, flight);
        if (ended.ok()) ended = s_.prefill->finish(flight.first_token);
      }
      if (!ended.ok()) return ended;
      const Nanos at = s_.prefill->ended(flight.first_token);
      flight.end = at == Nanos{} ? s_.device.now() : at;
    }
    return reap_cpu();
  }

  Session& s_;
  const RequestBatch& batch_;
  const ChunkRange range_;
  const Nanos schedule_, prepare_;
  std::vector<Flight> flights_;
  std::size_t turn_ = 0;      // the request that the CPU is at
  std::size_t forwards_ = 0;  // requests whose first token is submitted
  bool submitting_ = false;   // a forward pass, which no other may be mixed with
  Ticket cpu_done_ = 0;
};

}  // namespace

ChunkRange all_chunks(const RequestBatch& batch) {
  return {0, static_cast<std::uint32_t>(batch.requests.front().keys.size())};
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
