// SPDX-License-Identifier: Apache-2.0
// Any device, with faults: a wrapper that refuses, fails, cuts short, delays or loses what `faults`
// says, as real devices do. What it promises beyond that is the seam's: with no faults set it is
// the device that it wraps.
#pragma once
#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <set>

#include "backends/api/device.h"
#include "backends/faults/delays.h"
#include "backends/faults/faults.h"

namespace kvroof {
namespace faults {

// How often each fault happened, by Fault; and calls refused.
struct FaultCounts {
  std::array<std::uint64_t, kFaults> of{};
  std::uint64_t no_memory = 0, no_queue = 0;
};

// Hands out the buffers of the device inside, and queues that wrap its queues.
class FaultyDevice final : public Device {
 public:
  explicit FaultyDevice(std::unique_ptr<Device> inner, Faults with = {});

  const DeviceInfo& info() const noexcept override { return info_; }
  Nanos now() const noexcept override { return inner_->now(); }
  Result<std::size_t> wait_any(std::span<const Point> points, Nanos deadline) noexcept override;
  Result<std::unique_ptr<Buffer>> allocate(const BufferSpec& spec) noexcept override;
  Result<std::unique_ptr<Buffer>> adopt(void* host, std::uint64_t bytes) noexcept override;
  Result<std::unique_ptr<Queue>> open_queue(QueueKind kind, Priority priority) noexcept override;
  Status open_gate(Gate gate) noexcept override;

  // From now on every call is `lost` but waiting and reaping, by which what is open ends as `lost`:
  // once nothing writes to its buffers any more.
  void lose();

  FaultCounts counts() const;
  std::uint64_t open_queues() const { return open_queues_; }

  Faults faults;  // may change whenever no thread is in a call

  // The rest is its queues'.
  bool is_lost() const { return lost_; }
  static Status gone();
  Fault fault_of(QueueKind kind, Ticket ticket, const Work& work, std::uint64_t draw) const;
  Result<Point> delay(const Queue& lane, Fault fault, std::uint64_t draw);
  Delays& delays() { return delays_; }
  void count(Fault fault) { ++counts_[static_cast<std::size_t>(fault)]; }
  void queue_closed() { --open_queues_; }
  void holds_at(Gate gate);

 private:
  Result<std::size_t> wait_once(std::span<const Point> inner, Nanos deadline);
  bool happens(double probability, std::atomic<std::uint64_t>& count);

  std::unique_ptr<Device> inner_;
  DeviceInfo info_;
  Delays delays_;
  std::atomic<bool> lost_ = false;
  std::atomic<std::uint64_t> open_queues_ = 0, opened_queues_ = 0, calls_ = 0;
  std::array<std::atomic<std::uint64_t>, kFaults> counts_{};
  std::atomic<std::uint64_t> no_memory_ = 0, no_queue_ = 0;
  std::mutex gates_lock_;
  std::set<Gate> gates_;  // that something was held at
};

}  // namespace faults
using faults::FaultyDevice;
}  // namespace kvroof
