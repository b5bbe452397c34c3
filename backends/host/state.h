// SPDX-License-Identifier: Apache-2.0
// What the queues of one device share, all of it under one lock: who has completed what, which
// gates are open, and the condition on which fences and wait_any sleep.
#pragma once
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "backends/api/queue.h"
#include "backends/queues/ticket_ranges.h"

namespace kvroof::host {

// The progress of one queue. Outlives the queue for as long as a fence somewhere names it.
struct Timeline {
  Ticket issued = 0, completed = 0;
  queues::TicketRanges failed;
  std::deque<Completion> unreaped;
  std::optional<Gate> held_at;          // its running ticket is a hold that found its gate closed
  const Timeline* waits_for = nullptr;  // its running ticket waits for a fence on that one

  bool done(Ticket ticket) const { return ticket <= completed; }
};

struct State {
  std::mutex mutex;
  std::condition_variable changed;  // a completion, a gate, a queue that waits or drains
  std::unordered_set<Gate> open_gates;
  std::unordered_map<const Queue*, std::shared_ptr<Timeline>> timelines;  // of the live queues

  // The timeline of a point that submit() has returned already, else null. Under the lock.
  std::shared_ptr<Timeline> find(const Point& point) const {
    const auto found = timelines.find(point.queue);
    if (found == timelines.end()) return nullptr;
    const bool returned = point.ticket >= 1 && point.ticket <= found->second->issued;
    return returned ? found->second : nullptr;
  }

  // Whether nothing but a closed gate, perhaps several queues away, stops `timeline`. A hold whose
  // gate has opened stops nothing, also before its thread has noticed. Under the lock.
  bool stopped_by_gate(const Timeline* timeline) const {
    while (timeline != nullptr && !timeline->held_at) timeline = timeline->waits_for;
    return timeline != nullptr && !open_gates.contains(*timeline->held_at);
  }
};

}  // namespace kvroof::host
