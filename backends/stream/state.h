// SPDX-License-Identifier: Apache-2.0
// What the lanes of one device share, all of it under one lock. A driver can't be told to drop what
// it holds, so work goes to it only once it is certain to run: behind a closed gate, or behind work
// that is, it stays with us. A ticket is thus waiting, in flight, or completed, in that order.
#pragma once
#include <deque>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

#include "backends/queues/ticket_ranges.h"
#include "backends/stream/clock.h"
#include "backends/stream/commands.h"

namespace kvroof::stream {

struct Timeline;
class StreamQueue;

struct Fence {
  std::shared_ptr<Timeline> timeline;
  Ticket ticket = 0;
};

struct Waiting {
  std::vector<Fence> fences;
  std::variant<Copies, Set, Hold> body;
};

struct Flight {
  Status status;  // not ok: it did not run, or not all of it could be enqueued
  Event begin = nullptr, end = nullptr;  // null where nothing was enqueued
  std::shared_ptr<const Anchor> anchor;
  Nanos sent{};
  HostTasks tasks;
};

// The progress of one queue. Outlives the queue for as long as a fence somewhere names it.
struct Timeline {
  Ticket issued = 0, decided = 0, completed = 0;  // decided: in flight or further
  queues::TicketRanges failed;                    // of the completed ones
  std::deque<Waiting> waiting;                    // decided + 1 .. issued
  std::deque<Flight> flights;                     // completed + 1 .. decided
  std::deque<Completion> unreaped;

  Flight& flight(Ticket ticket) { return flights[ticket - completed - 1]; }
};

struct State {
  explicit State(Driver& target) : driver(target), events(target), clock(target, events) {}

  // Under the lock, all of them.
  std::shared_ptr<Timeline> find(const Point& point) const;
  void advance();  // sends what has become certain, on all lanes
  void poll();     // completes what the driver has done, on all lanes
  void lose(const Status& why);

  Driver& driver;
  std::mutex mutex;
  EventPool events;
  Clock clock;
  std::unordered_set<Gate> open_gates;
  std::unordered_map<const Queue*, StreamQueue*> lanes;
  Status lost;  // not ok once the device is gone
};

}  // namespace kvroof::stream
