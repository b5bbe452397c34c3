// SPDX-License-Identifier: Apache-2.0
// The compute queue of one prefill: submits ops, waits where the queue is busy, reaps, and keeps
// what became of the tickets: the first failures and where the time went.
#pragma once
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "backends/api/device.h"
#include "kernels/prefill/prefill.h"

namespace kvroof {

class OpLane {
 public:
  OpLane(Device& device, std::unique_ptr<Queue> queue)
      : device_(device), queue_(std::move(queue)) {}

  // Times start anew with the next submission.
  void begin_batch();

  // `wait` may be empty. A run's time goes to no single op.
  Status submit(const Op& op, std::span<const Point> fences, const WaitUntil& wait,
                bool outside_layers);
  Status submit(const OpRun& run, std::span<const Point> fences, const WaitUntil& wait,
                bool outside_layers);

  Ticket last() const { return last_; }
  void remember_end_of_last();            // before anything else is submitted
  Nanos end_of(Ticket remembered) const;  // zero: not seen, forgotten, or without a timestamp
  Status finish(Ticket ticket);
  Status settle();  // waits for all of it, however it ends
  const PrefillTimes& times() const { return times_; }
  Queue& queue() { return *queue_; }

 private:
  // What reaping must know of an open ticket of this batch.
  struct Tag {
    std::uint8_t op = 0;
    bool outside_layers = false;
    bool remember_end = false;
  };

  Status enqueue(const Work& work, const WaitUntil& wait, Tag tag);
  Status wait_for(Ticket ticket);
  Status reap();
  void take(const Completion& done);
  void add_time(const Completion& done);

  Device& device_;
  std::unique_ptr<Queue> queue_;
  Ticket last_ = 0, reaped_ = 0, batch_first_ = 1;
  std::deque<Tag> tags_;              // of tickets reaped_ + 1 .. last_
  std::vector<Completion> failures_;  // not reported yet, in ticket order
  Ticket reported_ = 0;               // finish() has covered up to here
  Status last_report_;
  PrefillTimes times_;
  std::map<Ticket, Nanos> ends_;  // of the latest kRemembered tickets that were asked for
};

}  // namespace kvroof
