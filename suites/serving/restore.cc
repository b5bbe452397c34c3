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
  std::vector<TransferId> loads;       // one a group of layers; 0: none
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
        prepare_(nanos(cost.prepare_seconds_per_16_tokens * tokens_loaded() / 16.0)),
        flights_(batch.requests.size()) {}

  Result<Restore> run() {
    const Nanos begin = s_.device.now();
    if (decodes()) {
      if (Status e = decode(); !e.ok()) return e;
    }
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
    result.decode_steps = decode_steps_;
    result.outside_layers = s_.prefill->times().outside_layers + schedule_ + prepare_;
    return result;
  }

 private:
  std::uint32_t tokens_loaded() const { return range_.count * s_.chunk_tokens(); }
  std::uint32_t front_tokens() const {
    return range_.count == 0 ? 0 : range_.first * s_.chunk_tokens();
  }
  bool decodes() const { return !batch_.live.empty(); }

  std::vector<Point> on_cpu(Ticket ticket) const {
    if (ticket == 0) return {};
    return {{s_.cpu.get(), ticket}};
  }

  // Does all that can be done without waiting.
  Status drive() {
    if (Status e = reap_cpu(); !e.ok()) return e;
    for (const auto& engine : s_.engines) {
      if (Status e = engine->poll(); !e.ok()) return e;
    }
    for (;;) {
      Result<bool> progress = advance_forward();
      if (progress && !*progress) progress = advance_cpu();
      if (progress && !*progress) progress = keep_decoding();
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
      if (submitting_ || holds_up_decoding(flight.scheduled)) return false;
      const auto front =
          submit(turn_, request.prefill_front(s_, front_tokens()), on_cpu(flight.scheduled));
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
    const Ticket by_cpu = std::max(flight.scheduled, flight.prepared);
    if (holds_up_decoding(by_cpu)) return false;
    std::vector<Point> fences = on_cpu(by_cpu);
    for (std::size_t group = 0; group < s_.kv.size() && range_.count > 0; ++group) {
      const auto blocks = blocks_of(s_, request, needed(group), group);
      Engine& engine = *s_.engines[group];
      // The lane is in order: while its last copy waits, it is not worth asking for the others.
      const auto last = engine.fences_for_read(blocks.last(1));
      if (last.code() == Code::busy || (last && decodes() && !last->empty())) return false;
      const auto load = engine.fences_for_read(blocks);
      if (load.code() == Code::busy) return false;
      // Where a copy has failed already, nothing is worth waiting for: the pass will be repeated.
      if (!load && load.code() != Code::failed) return load.status();
      if (load) fences.insert(fences.end(), load->begin(), load->end());
    }
    if (Status e = submit_rest(forwards_, past_after(s_, batch_, range_), fences); !e.ok())
      return e;
    ++forwards_;
    return true;
  }

  // The compute lane is in order: what waits in it keeps the live sequences from decoding.
  bool holds_up_decoding(Ticket by_cpu) const { return decodes() && by_cpu > cpu_done_; }

  // A step that only decodes, where the lane has nothing else to do.
  Result<bool> keep_decoding() {
    if (!decodes() || submitting_ || forwards_ == flights_.size() || !lane_is_idle()) return false;
    if (Status e = decode(); !e.ok()) return e;
    return true;
  }

  Status decode() {
    const std::vector<PrefillRequest> live = live_requests(0);
    const auto ticket = s_.prefill->submit(live, {});
    if (ticket) last_submitted_ = *ticket;
    decode_steps_ += 1;
    return ticket.status();
  }

  bool lane_is_idle() {
    const Point last{&s_.prefill->queue(), last_submitted_};
    return last_submitted_ == 0 || s_.device.wait_any({&last, 1}, s_.device.now()).ok();
  }

  // The next token of each live sequence. Its logits lie behind those of request `index`, so that
  // one product serves all.
  std::vector<PrefillRequest> live_requests(std::size_t index) const {
    std::vector<PrefillRequest> live;
    const std::uint64_t bytes = s_.shape.vocab * sizeof(float);
    for (const Request& each : batch_.live) {
      live.push_back(each.prefill(s_, batch_.context_tokens - 1));
      live.back().logits = {batch_.requests[index].logits.get(), live.size() * bytes, bytes};
    }
    return live;
  }

  ChunkRange needed(std::size_t group) const { return needed_chunks(s_, batch_, range_, group); }

  Status submit_rest(std::size_t index, std::uint32_t past, std::span<const Point> fences) {
    const auto ticket = submit(index, batch_.requests[index].prefill(s_, past), fences);
    if (ticket) flights_[index].first_token = *ticket;
    return ticket.status();
  }

  // While the compute lane is full, the CPU and the loads go on.
  Result<Ticket> submit(std::size_t index, const PrefillRequest& work,
                        std::span<const Point> fences) {
    submitting_ = true;
    const std::vector<PrefillRequest> live = live_requests(index);
    const auto ticket = s_.prefill->submit(
        {&work, 1}, fences, [this](Point point) { return drive_until(point); }, live);
    submitting_ = false;
    if (!ticket) return ticket;
    last_submitted_ = *ticket;
    const Point by{&s_.prefill->queue(), *ticket};
    for (std::size_t group = 0; group < s_.kv.size(); ++group) {
      const auto blocks = std::span(batch_.requests[index].kv[group].blocks)
                              .first(blocks_for(work.past + work.tokens));
      s_.engines[group]->note_write(blocks.subspan(work.past / s_.spec.block_tokens), by);
      s_.engines[group]->note_read(blocks, by);
    }
    return ticket;
  }

  std::uint32_t blocks_for(std::uint32_t tokens) const {
    return (tokens + s_.spec.block_tokens - 1) / s_.spec.block_tokens;
  }

  Status spend(Nanos duration, Ticket& ticket) {
    if (duration.count() == 0 || ticket != 0) return {};
    const auto spent = s_.cpu->submit({{}, Spend{duration}});
    if (spent) ticket = *spent;
    return spent.status();
  }

  Status start_load(const Request& request, Flight& flight) {
    for (std::size_t group = 0; group < s_.kv.size(); ++group) {
      const ChunkRange range = needed(group);
      const auto keys = std::span(request.kv[group].keys).subspan(range.first, range.count);
      const auto load = s_.engines[group]->load(keys, blocks_of(s_, request, range, group));
      if (!load) return load.status();
      flight.loads.push_back(*load);
    }
    return {};
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
    std::vector<Point> points;
    for (const auto& engine : s_.engines) {
      const std::vector<Point> open = engine->open_points();
      points.insert(points.end(), open.begin(), open.end());
    }
    // Once the lane is idle, keep_decoding() has had its turn.
    if (decodes() && !submitting_) points.push_back({&s_.prefill->queue(), last_submitted_});
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
      for (std::size_t group = 0; group < flight.loads.size(); ++group) {
        const auto ended = s_.engines[group]->wait(flight.loads[group], kNever);
        if (!ended) return ended.status();
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

  // In order. A request whose load failed was given work behind failed copies, which the device
  // aborted: all but its front is computed again.
  Status land_first_tokens() {
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

  Session& s_;
  const RequestBatch& batch_;
  const ChunkRange range_;
  const Nanos schedule_, prepare_;
  std::vector<Flight> flights_;
  std::size_t turn_ = 0;       // the request that the CPU is at
  std::size_t forwards_ = 0;   // requests whose first token is submitted
  bool submitting_ = false;    // a forward pass, which no other may be mixed with
  Ticket last_submitted_ = 0;  // of the compute lane; 0: none
  std::uint32_t decode_steps_ = 0;
  Ticket cpu_done_ = 0;
};

}  // namespace

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
