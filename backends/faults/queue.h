// SPDX-License-Identifier: Apache-2.0
// A queue of another device whose submissions meet faults. Tickets are that queue's own.
#pragma once
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "backends/faults/faults.h"
#include "backends/queues/ticket_ranges.h"

namespace kvroof::faults {

class FaultyDevice;

class FaultyQueue final : public Queue {
 public:
  // `number` tells the device's queues apart, in the order of opening.
  FaultyQueue(FaultyDevice& device, std::unique_ptr<Queue> inner, std::uint64_t number);
  ~FaultyQueue() override;
  FaultyQueue(const FaultyQueue&) = delete;
  FaultyQueue& operator=(const FaultyQueue&) = delete;

  QueueKind kind() const noexcept override { return inner_->kind(); }
  Result<Ticket> submit(const Work& work) noexcept override;
  Result<std::size_t> reap(std::span<Completion> out) noexcept override;
  DiskFacts disk_facts() const override { return inner_->disk_facts(); }

  // The device's: a wait has seen this ticket complete.
  void seen_complete(Ticket ticket);

  // The same point of the queue inside; with no queue where it is no queue of a FaultyDevice.
  static Point unwrapped(const Point& point);

 private:
  bool is_copy() const { return kind() == QueueKind::copy_in || kind() == QueueKind::copy_out; }
  bool ignores_fences(const Work& work) const;
  bool is_bad(Ticket ticket) const;
  Status refusal(const Work& work, Fault fault);
  Status fate_of(const Work& work, Fault fault) const;
  Result<Ticket> enqueue(const Work& work, Fault fault, std::uint64_t draw);
  Status gather_fences(const Work& work, std::vector<Point>& fences) const;
  std::size_t take_in(std::span<Completion> completions);
  std::size_t hand_back_open(std::span<Completion> out, const Status& status);
  void amend(Completion& completion);

  FaultyDevice& device_;
  std::unique_ptr<Queue> inner_;
  const std::uint64_t number_;
  std::uint64_t attempts_ = 0;
  bool moves_kv_ = false;           // it copies, or has moved rows
  std::atomic<bool> busy_ = false;  // until a completion is seen
  Ticket submitted_ = 0, reaped_ = 0;
  std::map<Ticket, Status> fates_;  // not reaped, and known not to end well
  mutable std::mutex bad_lock_;     // other queues' threads ask
  queues::TicketRanges bad_;        // all that were ever in fates_
};

}  // namespace kvroof::faults
