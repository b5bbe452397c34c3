// SPDX-License-Identifier: Apache-2.0
#include "backends/faults/delays.h"

#include <algorithm>
#include <utility>

namespace kvroof::faults {

Result<Point> Delays::begin(const Queue& lane, Nanos until, bool overtaken) {
  const std::lock_guard guard(mutex_);
  if (open_.size() >= kMostAtOnce) return Status{Code::busy, "Enough is delayed already."};
  auto hold = take_queue();
  if (!hold.ok()) return hold.status();
  const Gate gate = next_gate_++;
  const auto ticket = (*hold)->submit({.fences = {}, .body = Hold{gate}});
  if (!ticket.ok()) return ticket.status();
  const Point point{hold->get(), *ticket};
  open_.push_back({std::move(*hold), gate, until, &lane, overtaken});
  return point;
}

// What an idle lane still has open ends at once, so that a new hold may stand behind it.
Result<std::unique_ptr<Queue>> Delays::take_queue() {
  if (idle_.empty()) return device_.open_queue(QueueKind::compute, Priority::normal);
  auto queue = std::move(idle_.back());
  idle_.pop_back();
  Completion ended;
  for (auto count = queue->reap({&ended, 1}); count.ok() && *count > 0;) {
    count = queue->reap({&ended, 1});
  }
  return queue;
}

void Delays::submitted(const Queue& lane, Ticket ticket) {
  const std::lock_guard guard(mutex_);
  for (Delay& delay : open_) {
    if (!delay.overtaken || delay.lane == &lane || delay.overtaker != nullptr) continue;
    delay.overtaker = &lane;
    delay.overtaking = ticket;
  }
}

void Delays::completed(const Queue& lane, Ticket ticket) {
  end_where(
      [&](const Delay& delay) { return delay.overtaker == &lane && ticket >= delay.overtaking; });
}

bool Delays::any(const Queue& lane) const {
  const std::lock_guard guard(mutex_);
  return std::any_of(open_.begin(), open_.end(),
                     [&](const Delay& delay) { return delay.lane == &lane; });
}

Nanos Delays::next_end() const {
  const std::lock_guard guard(mutex_);
  Nanos next = Nanos::max();
  for (const Delay& delay : open_) next = std::min(next, delay.until);
  return next;
}

void Delays::end_due() {
  const Nanos now = device_.now();
  end_where([&](const Delay& delay) { return delay.until <= now; });
}

void Delays::end_all() {
  end_where([](const Delay& delay) { return delay.until != Nanos::max(); });
  const std::lock_guard guard(mutex_);
  open_.clear();
}

void Delays::forget(const Queue& lane) {
  end_where([&](const Delay& delay) {
    return delay.overtaker == &lane || (delay.lane == &lane && delay.until != Nanos::max());
  });
}

template <class Pick>
void Delays::end_where(Pick pick) {
  const std::lock_guard guard(mutex_);
  for (std::size_t i = open_.size(); i-- > 0;) {
    if (!pick(open_[i])) continue;
    (void)device_.open_gate(open_[i].gate);
    idle_.push_back(std::move(open_[i].hold));
    if (i + 1 < open_.size()) open_[i] = std::move(open_.back());
    open_.pop_back();
  }
}

}  // namespace kvroof::faults
