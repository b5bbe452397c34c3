// SPDX-License-Identifier: Apache-2.0
// How far one lane has come, as fences and wait_any see it. Under its device's lock.
#pragma once
#include <deque>
#include <optional>
#include <utility>

#include "backends/api/queue.h"
#include "backends/queues/ticket_ranges.h"

namespace kvroof::queues {

// The progress of one queue. Outlives the queue for as long as a fence somewhere names it.
struct Timeline {
  Ticket issued = 0, completed = 0;
  TicketRanges failed;
  std::deque<Completion> unreaped;
  std::optional<Gate> held_at;          // its running ticket is a hold that found its gate closed
  const Timeline* waits_for = nullptr;  // its running ticket waits for a fence on that one

  bool done(Ticket ticket) const { return ticket <= completed; }

  // The oldest ticket that has not completed does, with `completion`, whose ticket is set here.
  void complete(Completion completion) {
    completion.ticket = ++completed;
    if (!completion.status.ok()) failed.append(completion.ticket);
    unreaped.push_back(std::move(completion));
  }
};

// Whether nothing but a closed gate, perhaps several queues away, stops `timeline`. A hold whose
// gate has opened stops nothing, also before its thread has noticed.
template <class IsOpen>
bool stopped_by_gate(const Timeline* timeline, IsOpen is_open) {
  while (timeline != nullptr && !timeline->held_at) timeline = timeline->waits_for;
  return timeline != nullptr && !is_open(*timeline->held_at);
}

}  // namespace kvroof::queues
