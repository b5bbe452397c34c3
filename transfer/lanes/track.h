// SPDX-License-Identifier: Apache-2.0
// A queue of a lane, with how far it has been submitted to and how far it has come.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "backends/api/queue.h"

namespace kvroof {

class Track {
 public:
  explicit Track(std::unique_ptr<Queue> queue) : queue_(std::move(queue)) {}

  // As Queue::submit.
  Result<Ticket> submit(const Work& work) {
    const Result<Ticket> ticket = queue_->submit(work);
    if (ticket.ok()) submitted_ = *ticket;
    return ticket;
  }

  // Calls take_in(completion) for all that have completed.
  template <class TakeIn>
  Status reap(std::span<Completion> scratch, TakeIn take_in) {
    while (completed_ < submitted_) {
      const Result<std::size_t> count = queue_->reap(scratch);
      if (!count.ok()) return count.status();
      for (const Completion& completion : scratch.first(*count)) {
        completed_ = completion.ticket;
        take_in(completion);
      }
      if (*count < scratch.size()) break;
    }
    return {};
  }

  // What is open never completes as far as this is concerned.
  void forget_open() { completed_ = submitted_; }

  bool idle() const { return completed_ == submitted_; }
  Ticket submitted() const { return submitted_; }
  bool has_completed(Ticket ticket) const { return ticket <= completed_; }
  Point point(Ticket ticket) const { return {queue_.get(), ticket}; }

  std::optional<Point> oldest_open() const {
    if (idle()) return std::nullopt;
    return point(completed_ + 1);
  }

 private:
  std::unique_ptr<Queue> queue_;
  Ticket submitted_ = 0, completed_ = 0;
};

}  // namespace kvroof
