// SPDX-License-Identifier: Apache-2.0
#include "suites/serving/restore.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace kvroof {
namespace {

constexpr Nanos kNever = Nanos::max();

Nanos nanos(double seconds) { return Nanos(std::llround(seconds * 1e9)); }

// CPU time before a request's first copy: its first step's, and that of preparing its blocks.
Nanos cost_of_load(const ServingCost& cost, const Session& s, const RequestBatch& batch) {
  const double sixteens = batch.loaded_blocks * (s.kv.block_tokens / 16.0);
  return nanos(cost.first_step_seconds + cost.prepare_seconds_per_16_tokens * sixteens);
}

// One request on its way: what it waits for, and when it ended.
struct Flight {
  Ticket spent = 0;     // serving cost on the CPU lane; 0: none
  TransferId load = 0;  // 0: no load
  Ticket first_token = 0;
  Nanos end{};
};

std::vector<Point> after(const Session& s, const Flight& flight) {
  if (flight.spent == 0) return {};
  return {{s.cpu.get(), flight.spent}};
}

Status spend(Session& s, Nanos duration, Flight& flight) {
  if (duration.count() == 0) return {};
  const auto ticket = s.cpu->submit({{}, Spend{duration}});
  if (!ticket) return ticket.status();
  flight.spent = *ticket;
  return {};
}

void drain(Queue& queue) {
  Completion done[16];
  for (auto n = queue.reap(done); n.ok() && *n > 0; n = queue.reap(done)) continue;
}

Status submit_prefill(Session& s, const Request& request, std::uint32_t past,
                      std::span<const Point> fences, Flight& flight) {
  const PrefillRequest work = request.prefill(s, past);
  const auto ticket = s.prefill->submit({&work, 1}, fences);
  if (!ticket) return ticket.status();
  flight.first_token = *ticket;
  const Point by{&s.prefill->queue(), *ticket};
  s.engine->note_write(request.blocks, by);
  s.engine->note_read(request.blocks, by);
  return {};
}

// Waits for the first tokens in order and takes each one's end.
Status land(Session& s, std::vector<Flight>& flights, Nanos begin, Restore& result) {
  for (Flight& flight : flights) {
    if (Status e = s.prefill->finish(flight.first_token); !e.ok()) return e;
    const Nanos ended = s.prefill->ended(flight.first_token);
    flight.end = ended == Nanos{} ? s.device.now() : ended;
  }
  drain(*s.cpu);
  std::vector<Nanos> ends;
  for (const Flight& flight : flights) ends.push_back(flight.end - begin);
  std::sort(ends.begin(), ends.end());
  result.ttft = ends.back();
  result.ttft_median = ends[(ends.size() - 1) / 2];
  result.outside_layers = s.prefill->times().outside_layers;
  return {};
}

// Waits until something of the engine's completes, or `also` does (then true).
Result<bool> step_engine(Session& s, std::optional<Point> also) {
  std::vector<Point> points;
  if (also) points.push_back(*also);
  const std::vector<Point> open = s.engine->open_points();
  points.insert(points.end(), open.begin(), open.end());
  const auto first = s.device.wait_any(points, kNever);
  if (!first) return first.status();
  if (Status e = s.engine->poll(); !e.ok()) return e;
  return also && *first == 0;
}

// Lets the request's CPU time pass, while the loads of those before it go on.
Status await_cpu(Session& s, const Flight& flight) {
  if (flight.spent == 0) return {};
  while (true) {
    const auto passed = step_engine(s, Point{s.cpu.get(), flight.spent});
    if (!passed || *passed) return passed.status();
  }
}

// What a reader of the blocks fences on, once their copies have left the engine's lane.
Result<std::vector<Point>> fences_when_submitted(Session& s, std::span<const BlockId> blocks) {
  if (Status e = s.engine->poll(); !e.ok()) return e;
  while (true) {
    auto fences = s.engine->fences_for_read(blocks);
    if (fences.code() != Code::busy) return fences;
    if (const auto stepped = step_engine(s, {}); !stepped) return stepped.status();
  }
}

std::span<const BlockId> loaded_blocks(const RequestBatch& batch, const Request& request) {
  return std::span(request.blocks).first(batch.loaded_blocks);
}

// Starts the load, waits until it is submitted whole, and queues the rest's forward behind it.
Status start_copy(Session& s, const RequestBatch& batch, const Request& request, Flight& flight) {
  if (Status e = await_cpu(s, flight); !e.ok()) return e;
  std::vector<Point> fences = after(s, flight);
  if (!request.keys.empty()) {
    const auto load = s.engine->load(request.keys, loaded_blocks(batch, request));
    if (!load) return load.status();
    flight.load = *load;
    const auto ready = fences_when_submitted(s, loaded_blocks(batch, request));
    if (!ready && ready.code() != Code::failed) return ready.status();
    if (ready) fences.insert(fences.end(), ready->begin(), ready->end());
  }
  return submit_prefill(s, request, batch.past_after_load(), fences, flight);
}

void add(Restore& to, const TransferResult& load, Interval& span) {
  to.bytes_loaded += load.bytes;
  to.regions_loaded += load.regions;
  to.chunks_loaded += load.chunks - load.failed_chunks;
  span.begin = std::min(span.begin, load.interval.begin);
  span.end = std::max(span.end, load.interval.end);
  to.load = span.end - span.begin;
}

// A request whose load failed was given first-token work behind failed copies, which the device
// aborted: it is recomputed from the start.
Status recompute_failed(Session& s, const Request& request, Flight& flight) {
  if (s.prefill->finish(flight.first_token).code == Code::lost) return {Code::lost, "device lost"};
  if (Status e = submit_prefill(s, request, 0, {}, flight); !e.ok()) return e;
  return s.prefill->finish(flight.first_token);
}

}  // namespace

Result<Restore> recompute(Session& s, const RequestBatch& batch, const ServingCost& cost) {
  const Nanos begin = s.device.now();
  std::vector<Flight> flights(batch.requests.size());
  for (std::size_t i = 0; i < flights.size(); ++i) {
    if (Status e = spend(s, nanos(cost.first_step_seconds), flights[i]); !e.ok()) return e;
    const std::vector<Point> fences = after(s, flights[i]);
    if (Status e = submit_prefill(s, batch.requests[i], 0, fences, flights[i]); !e.ok()) return e;
  }
  Restore result;
  if (Status e = land(s, flights, begin, result); !e.ok()) return e;
  result.outside_layers += nanos(cost.first_step_seconds);
  return result;
}

Result<Restore> copy(Session& s, const RequestBatch& batch, const ServingCost& cost) {
  const Nanos begin = s.device.now();
  std::vector<Flight> flights(batch.requests.size());
  for (Flight& flight : flights) {
    if (Status e = spend(s, cost_of_load(cost, s, batch), flight); !e.ok()) return e;
  }
  for (std::size_t i = 0; i < flights.size(); ++i) {
    if (Status e = start_copy(s, batch, batch.requests[i], flights[i]); !e.ok()) return e;
  }
  Restore result;
  Interval span{kNever, Nanos{}};
  for (std::size_t i = 0; i < flights.size(); ++i) {
    if (flights[i].load == 0) continue;
    const auto ended = s.engine->wait(flights[i].load, kNever);
    if (!ended) return ended.status();
    add(result, *ended, span);
    if (ended->status.ok()) continue;
    ++result.failed_loads;
    if (Status e = recompute_failed(s, batch.requests[i], flights[i]); !e.ok()) return e;
  }
  if (Status e = land(s, flights, begin, result); !e.ok()) return e;
  result.outside_layers += cost_of_load(cost, s, batch);
  return result;
}

Status offload(Session& s, const RequestBatch& batch) {
  for (const Request& request : batch.requests) {
    if (request.keys.empty()) continue;
    const auto id = s.engine->offload(request.keys, loaded_blocks(batch, request));
    if (!id) return id.status();
    const auto ended = s.engine->wait(*id, kNever);
    if (!ended) return ended.status();
    if (!ended->status.ok()) return ended->status;
  }
  return {};
}

Status wipe(Session& s, const RequestBatch& batch) {
  if (!s.spec.backed) return {};
  const auto ticket = s.scratch->submit({{}, Fill{{s.cache.get(), 0, s.kv.cache_bytes()}, 0xFF}});
  if (!ticket) return ticket.status();
  const Point by{s.scratch.get(), *ticket};
  for (const Request& request : batch.requests) s.engine->note_write(request.blocks, by);
  if (const auto waited = s.device.wait_any({&by, 1}, kNever); !waited) return waited.status();
  drain(*s.scratch);
  return {};
}

}  // namespace kvroof
