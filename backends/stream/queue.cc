// SPDX-License-Identifier: Apache-2.0
#include "backends/stream/queue.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <utility>

#include "backends/os/errors.h"
#include "backends/queues/body_check.h"
#include "backends/queues/lane.h"

namespace kvroof::stream {
namespace {

using namespace std::chrono_literals;

Status unsupported(std::string sentence) { return {Code::unsupported, std::move(sentence)}; }

std::vector<Move> moves_of(const std::vector<Copy>& copies) {
  std::vector<Move> moves;
  moves.reserve(copies.size());
  for (const Copy& copy : copies) {
    if (!copy.pageable) moves.push_back(copy.move);
  }
  return moves;
}

}  // namespace

StreamQueue::StreamQueue(QueueKind kind, QueueLimits limits, const void* owner, State& state,
                         Stream stream)
    : kind_(kind),
      limits_(limits),
      owner_(owner),
      state_(state),
      stream_(stream),
      bounce_(state.driver) {
  std::lock_guard lock(state_.mutex);
  state_.lanes[this] = this;
}

StreamQueue::~StreamQueue() {
  (void)state_.driver.use();
  std::unique_lock lock(state_.mutex);
  closing_ = true;
  state_.advance();
  for (state_.poll(); timeline_->completed < timeline_->issued; state_.poll()) {
    lock.unlock();
    std::this_thread::sleep_for(20us);
    lock.lock();
  }
  (void)state_.driver.drain(stream_);
  (void)state_.driver.destroy_stream(stream_);
  state_.lanes.erase(this);
}

Result<Ticket> StreamQueue::submit(const Work& work) noexcept try {
  Result<Waiting> item = take_in(work);
  if (!item) return item.status();
  if (Status status = state_.driver.use(); !status.ok()) return status;
  std::lock_guard lock(state_.mutex);
  for (const Point& point : work.fences) {
    std::shared_ptr<Timeline> timeline = state_.find(point);
    if (!timeline) {
      return queues::unknown_fence();
    }
    item->fences.push_back({std::move(timeline), point.ticket});
  }
  if (!state_.lost.ok()) return state_.lost;
  if (timeline_->issued - timeline_->completed >= limits_.max_open_tickets) {
    return queues::full();
  }
  timeline_->waiting.push_back(std::move(*item));
  const Ticket ticket = ++timeline_->issued;
  while (advance()) continue;
  return ticket;
} catch (...) {
  return os::from_exception();
}

Result<std::size_t> StreamQueue::reap(std::span<Completion> out) noexcept try {
  (void)state_.driver.use();
  std::lock_guard lock(state_.mutex);
  poll();
  return queues::hand_over(timeline_->unreaped, out);
} catch (...) {
  return os::from_exception();
}

Result<Waiting> StreamQueue::take_in(const Work& work) const {
  const queues::BodyRules rules{.max_regions = limits_.max_regions, .owner = owner_};
  if (Status status = queues::check_body(work, kind_, rules); !status.ok()) {
    return status;
  }
  if (const auto* regions = std::get_if<Regions>(&work.body)) {
    if (regions->method == CopyMethod::kernel) {
      return unsupported(kNoCopyKernels);
    }
    if (regions->method == CopyMethod::batch && !state_.driver.has_batch()) {
      return unsupported(kNoBatch);
    }
    return Waiting{{}, copies_of(*regions)};
  }
  if (const auto* fill = std::get_if<Fill>(&work.body)) return Waiting{{}, set_of(*fill)};
  if (const auto* hold = std::get_if<Hold>(&work.body)) return Waiting{{}, *hold};
  if (std::holds_alternative<Spend>(work.body)) {
    return queues::no_spending();
  }
  return unsupported("this adapter copies, and has no kernels yet");
}

bool StreamQueue::certain(const Waiting& item) const {
  if (closing_ || !state_.lost.ok()) return true;
  for (const Fence& fence : item.fences) {
    if (fence.ticket > fence.timeline->decided) return false;
  }
  const Hold* hold = std::get_if<Hold>(&item.body);
  return hold == nullptr || state_.open_gates.contains(hold->gate);
}

bool StreamQueue::advance() {
  if (timeline_->waiting.empty() || !certain(timeline_->waiting.front())) return false;
  Flight flight = launch(timeline_->waiting.front());
  timeline_->waiting.pop_front();
  timeline_->flights.push_back(std::move(flight));
  ++timeline_->decided;
  return true;
}

// What can't be sent fails alone; the lane goes on.
Flight StreamQueue::launch(Waiting& item) {
  Flight flight;
  flight.status = state_.lost;
  for (const Fence& fence : item.fences) {
    if (flight.status.ok()) flight.status = depend(fence);
  }
  if (const Hold* hold = std::get_if<Hold>(&item.body);
      hold != nullptr && flight.status.ok() && !state_.open_gates.contains(hold->gate)) {
    flight.status = queues::closed_before(hold->gate);
  }
  if (flight.status.ok()) flight.status = send(item, flight);
  return flight;
}

// Of a fence whose ticket is decided, unless the queue is being closed.
Status StreamQueue::depend(const Fence& fence) {
  Timeline& other = *fence.timeline;
  if (fence.ticket > other.decided) {
    return queues::closed_behind_gate();
  }
  const bool completed = fence.ticket <= other.completed;
  if (completed ? other.failed.contains(fence.ticket) : !other.flight(fence.ticket).status.ok()) {
    return queues::failed_before(fence.ticket);
  }
  if (completed || &other == timeline_.get()) return {};
  return state_.driver.wait(stream_, other.flight(fence.ticket).end);
}

Status StreamQueue::send(const Waiting& item, Flight& flight) try {
  auto begin = state_.events.take();
  if (!begin) return begin.status();
  flight.begin = *begin;
  auto end = state_.events.take();
  if (!end) return end.status();
  flight.end = *end;
  flight.anchor = state_.clock.anchor();
  flight.sent = steady_now();
  Status status = state_.driver.record(flight.begin, stream_);
  if (status.ok()) {
    if (const auto* copies = std::get_if<Copies>(&item.body)) status = send(*copies, flight.tasks);
    if (const auto* set = std::get_if<Set>(&item.body)) status = send(*set, flight.tasks);
  }
  // Whatever was enqueued before a failure must still end before the ticket does.
  if (Status marked = state_.driver.record(flight.end, stream_); !marked.ok()) {
    (void)state_.driver.drain(stream_);
    forget(flight);
    return status.ok() ? marked : status;
  }
  return status;
} catch (...) {
  (void)state_.driver.drain(stream_);
  forget(flight);
  return os::from_exception();
}

Status StreamQueue::send(const Copies& copies, HostTasks& tasks) {
  if (copies.batch) {
    const std::vector<Move> moves = moves_of(copies.over_link);
    Status status = moves.empty() ? Status{} : state_.driver.copy_batch(moves, stream_);
    if (!status.ok()) return status;
  }
  for (const Copy& copy : copies.over_link) {
    if (copies.batch && !copy.pageable) continue;
    Status status = copy.pageable ? bounce_.copy(copy, stream_, tasks)
                                  : state_.driver.copy(copy.way, copy.move, stream_);
    if (!status.ok()) return status;
  }
  for (const Move& move : copies.on_host) {
    Status status = call(state_.driver, stream_,
                         {reinterpret_cast<std::byte*>(move.to),
                          reinterpret_cast<const std::byte*>(move.from), move.bytes, 0},
                         tasks);
    if (!status.ok()) return status;
  }
  return {};
}

Status StreamQueue::send(const Set& set, HostTasks& tasks) {
  if (set.on_device) return state_.driver.set(set.to, set.value, set.bytes, stream_);
  return call(state_.driver, stream_,
              {reinterpret_cast<std::byte*>(set.to), nullptr, set.bytes, set.value}, tasks);
}

void StreamQueue::poll() {
  while (!timeline_->flights.empty()) {
    Flight& flight = timeline_->flights.front();
    if (flight.end != nullptr) {
      const Result<bool> done = state_.driver.done(flight.end);
      // An event that does not answer leaves no way to tell when its work ends.
      if (!done) return state_.lose(done.status());
      if (!*done) return;
    }
    land(flight);
  }
}

void StreamQueue::land(Flight& flight) {
  Completion completion;
  completion.status = std::move(flight.status);
  if (completion.status.ok()) {
    completion.interval = state_.clock.interval(*flight.anchor, flight.begin, flight.end);
  }
  if (completion.interval) fit(*completion.interval, flight.sent);
  forget(flight);
  timeline_->flights.pop_front();
  const Status status = completion.status;
  complete(std::move(completion));
  if (status.code == Code::lost) state_.lose(status);
}

// An anchor's time is known to some microseconds; that nothing begins before it is sent, ends in
// the future or overtakes its lane is certain.
void StreamQueue::fit(Interval& interval, Nanos sent) {
  const Nanos earliest = std::max(sent, last_end_), now = steady_now();
  interval.begin = std::clamp(interval.begin, sent, now);
  interval.end = std::clamp(interval.end, std::max(earliest, interval.begin), now);
  last_end_ = interval.end;
}

void StreamQueue::forget(Flight& flight) {
  if (flight.begin != nullptr) state_.events.give(std::exchange(flight.begin, nullptr));
  if (flight.end != nullptr) state_.events.give(std::exchange(flight.end, nullptr));
}

void StreamQueue::complete(Completion completion) {
  completion.ticket = ++timeline_->completed;
  timeline_->decided = std::max(timeline_->decided, timeline_->completed);
  if (!completion.status.ok()) timeline_->failed.append(completion.ticket);
  timeline_->unreaped.push_back(std::move(completion));
}

// A device that is gone drains at once; what one still runs that only seems so must end before its
// buffers may go.
void StreamQueue::lose() {
  (void)state_.driver.drain(stream_);
  for (Flight& flight : timeline_->flights) forget(flight);
  timeline_->flights.clear();
  timeline_->waiting.clear();
  while (timeline_->completed < timeline_->issued) complete({0, state_.lost, {}});
}

}  // namespace kvroof::stream
