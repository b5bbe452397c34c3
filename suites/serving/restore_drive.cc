// SPDX-License-Identifier: Apache-2.0
// What a run does whenever it can go on: the CPU's turns, forward passes, decoding.
#include <algorithm>

#include "suites/serving/restore_run.h"

namespace kvroof {
namespace {

constexpr Nanos kNever = Nanos::max();

std::vector<Point> on_cpu(Queue& cpu, Ticket ticket) {
  if (ticket == 0) return {};
  return {{&cpu, ticket}};
}

}  // namespace

Status RestoreRun::drive() {
  if (Status e = reap_cpu(); !e.ok()) return e;
  for (const auto& engine : s_.engines) {
    if (Status e = engine->poll(); !e.ok()) return e;
  }
  for (;;) {
    if (Status e = hops_ ? hops_->drive() : Status{}; !e.ok()) return e;
    Result<bool> progress = advance_forward();
    if (progress && !*progress) progress = advance_cpu();
    if (progress && !*progress) progress = keep_decoding();
    if (!progress || !*progress) return progress.status();
  }
}

Status RestoreRun::drive_until(const std::function<bool()>& reached) {
  for (;;) {
    if (Status e = drive(); !e.ok()) return e;
    if (reached()) return {};
    if (Status e = wait_for_something(); !e.ok()) return e;
  }
}

Status RestoreRun::wait_for_something() {
  const auto waited = wait_any(open_points());
  return waited.code() == Code::timeout ? Status{} : waited.status();
}

// `timeout`: an engine has something to give up. Virtual time without an event is slept through.
Result<std::size_t> RestoreRun::wait_any(std::span<const Point> points) {
  Nanos expiry = kNever;
  for (const auto& engine : s_.engines) expiry = std::min(expiry, engine->next_expiry());
  auto first = s_.device.wait_any(points, expiry);
  if (first.code() == Code::stuck && expiry < kNever) first = s_.device.wait_any({}, expiry);
  return first;
}

Status RestoreRun::drive_until(Point point) {
  for (;;) {
    if (Status e = drive(); !e.ok()) return e;
    std::vector<Point> points = open_points();
    points.insert(points.begin(), point);
    const auto first = wait_any(points);
    if (first.code() == Code::timeout) continue;
    if (!first || *first == 0) return first.status();
  }
}

std::vector<Point> RestoreRun::open_points() const {
  std::vector<Point> points;
  for (const auto& engine : s_.engines) {
    const std::vector<Point> open = engine->open_points();
    points.insert(points.end(), open.begin(), open.end());
  }
  // Once the lane is idle, keep_decoding() has had its turn.
  if (live_.any() && !submitting_) points.push_back(live_.last());
  if (turn_ < flights_.size()) {
    const Ticket ticket = std::max(flights_[turn_].scheduled, flights_[turn_].prepared);
    if (ticket > cpu_done_) points.push_back({s_.cpu.get(), ticket});
  }
  return points;
}

Result<bool> RestoreRun::advance_cpu() {
  if (turn_ == flights_.size()) return false;
  Flight& flight = flights_[turn_];
  const Request& request = batch_.requests[turn_];
  if (range_.count == 0 && turn_ > forwards_) return false;
  if (Status e = spend(schedule_, flight.scheduled); !e.ok()) return e;
  if (front_tokens() > 0 && flight.front == 0) {
    if (submitting_ || holds_up_decoding(flight.scheduled)) return false;
    const auto front =
        submit(turn_, request.prefill_front(s_, front_tokens()), on_cpu(*s_.cpu, flight.scheduled));
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

Status RestoreRun::reap_cpu() {
  Completion done[16];
  for (;;) {
    const auto count = s_.cpu->reap(done);
    if (!count) return count.status();
    if (*count == 0) return {};
    cpu_done_ = done[*count - 1].ticket;
  }
}

Status RestoreRun::spend(Nanos duration, Ticket& ticket) {
  if (duration.count() == 0 || ticket != 0) return {};
  const auto spent = s_.cpu->submit({{}, Spend{duration}});
  if (spent) ticket = *spent;
  return spent.status();
}

Status RestoreRun::start_load(const Request& request, Flight& flight) {
  if (hops_) {
    hops_->begin(request, range_);
    return {};
  }
  for (std::size_t group = 0; group < s_.kv.size(); ++group) {
    const Chunks wanted = chunks_of(s_, request, needed(group), group);
    const auto load = s_.engines[group]->load(
        wanted.keys, wanted.blocks, {.tokens = wanted.tokens, .by_layer = batch_.by_layer});
    if (!load) return load.status();
    flight.loads.push_back(*load);
  }
  return {};
}

Result<bool> RestoreRun::advance_forward() {
  if (submitting_ || forwards_ == turn_) return false;
  const Request& request = batch_.requests[forwards_];
  Flight& flight = flights_[forwards_];
  const Ticket by_cpu = std::max(flight.scheduled, flight.prepared);
  if (holds_up_decoding(by_cpu)) return false;
  // What has not been asked for yet can't be fenced on.
  if (hops_ && range_.count > 0 && !hops_->handed_over(forwards_)) return false;
  std::vector<Point> fences = on_cpu(*s_.cpu, by_cpu);
  const bool by_layer = batch_.by_layer && range_.count > 0;
  std::vector<Point> of_first;
  const auto loading =
      by_layer ? add_layer_fences(request, 0, of_first) : add_load_fences(request, fences);
  if (!loading || !*loading) return loading;
  FencesOfLayer of_layer;
  if (by_layer) of_layer = [&](std::uint32_t layer) { return fences_of_layer(request, layer); };
  const std::uint32_t past = past_after(s_, batch_, range_);
  if (Status e = submit_rest(forwards_, past, fences, of_layer); !e.ok()) return e;
  ++forwards_;
  return true;
}

Result<bool> RestoreRun::add_load_fences(const Request& request, std::vector<Point>& fences) {
  for (std::size_t group = 0; group < s_.kv.size() && range_.count > 0; ++group) {
    const auto added = add_fences(request, group, s_.kv[group].layers - 1, fences);
    if (!added || !*added) return added;
  }
  return true;
}

Result<bool> RestoreRun::add_layer_fences(const Request& request, std::uint32_t layer,
                                          std::vector<Point>& fences) {
  const auto [group, place] = s_.places[layer];
  return add_fences(request, group, place, fences);
}

Result<bool> RestoreRun::add_fences(const Request& request, std::size_t group, std::uint32_t layer,
                                    std::vector<Point>& fences) {
  const auto blocks = blocks_of(s_, request, needed(group), group);
  Engine& engine = *s_.engines[group];
  // The lane is in order: while its last copy waits, it is not worth asking for the others.
  const auto last = engine.fences_for_read(blocks.last(1), layer);
  const bool holds_up = live_.any() && !submitting_ && last && !last->empty();
  if (last.code() == Code::busy || holds_up) return false;
  const auto load = engine.fences_for_read(blocks, layer);
  if (load.code() == Code::busy) return false;
  // Where a copy has failed already, nothing is worth waiting for: the pass will be repeated.
  if (!load && load.code() != Code::failed) return load.status();
  if (load) fences.insert(fences.end(), load->begin(), load->end());
  return true;
}

Result<std::vector<Point>> RestoreRun::fences_of_layer(const Request& request,
                                                       std::uint32_t layer) {
  for (;;) {
    std::vector<Point> fences;
    const auto added = add_layer_fences(request, layer, fences);
    if (!added) return added.status();
    if (*added) return fences;
    if (Status e = wait_for_something(); !e.ok()) return e;
    if (Status e = drive(); !e.ok()) return e;
  }
}

// A step that only decodes, where the lane has nothing else to do.
Result<bool> RestoreRun::keep_decoding() {
  if (!live_.any() || submitting_ || forwards_ == flights_.size() || !live_.lane_is_idle()) {
    return false;
  }
  if (Status e = live_.step(); !e.ok()) return e;
  return true;
}

Status RestoreRun::submit_rest(std::size_t index, std::uint32_t past, std::span<const Point> fences,
                               const FencesOfLayer& of_layer) {
  const auto ticket = submit(index, batch_.requests[index].prefill(s_, past), fences, of_layer);
  if (ticket) flights_[index].first_token = *ticket;
  return ticket.status();
}

Result<Ticket> RestoreRun::submit(std::size_t index, const PrefillRequest& work,
                                  std::span<const Point> fences, const FencesOfLayer& of_layer) {
  submitting_ = true;
  const std::vector<PrefillRequest> live = live_.requests(index);
  const auto ticket = s_.prefill->submit(
      {&work, 1}, fences, [this](Point point) { return drive_until(point); }, live, of_layer);
  submitting_ = false;
  if (!ticket) return ticket;
  live_.note_submitted(*ticket);
  const Point by{&s_.prefill->queue(), *ticket};
  const std::uint32_t block = s_.spec.block_tokens;
  const std::uint32_t end = (work.past + work.tokens + block - 1) / block;
  for (std::size_t group = 0; group < s_.kv.size(); ++group) {
    const auto blocks = std::span(batch_.requests[index].kv[group].blocks).first(end);
    s_.engines[group]->note_write(blocks.subspan(work.past / block), by);
    s_.engines[group]->note_read(blocks, by);
  }
  return ticket;
}

}  // namespace kvroof
