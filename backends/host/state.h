// SPDX-License-Identifier: Apache-2.0
// What the queues of one device share, all of it under one lock: who has completed what, which
// gates are open, and the condition on which fences and wait_any sleep.
#pragma once
#include <condition_variable>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

#include "backends/api/queue.h"
#include "backends/queues/timeline.h"

namespace kvroof::host {

using queues::Timeline;

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

  bool stopped_by_gate(const Timeline* timeline) const {
    return queues::stopped_by_gate(timeline, [&](Gate gate) { return open_gates.contains(gate); });
  }
};

}  // namespace kvroof::host
