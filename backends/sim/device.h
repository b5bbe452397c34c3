// SPDX-License-Identifier: Apache-2.0
// A device in virtual time. One lock guards the machine and all queues; only wait_any and a queue's
// destructor move the clock.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "backends/api/device.h"
#include "backends/sim/buffer.h"
#include "backends/sim/job.h"
#include "backends/sim/machine/machine.h"
#include "backends/sim/price.h"
#include "backends/sim/profile.h"

namespace kvroof::sim {

class SimQueue;

// Regions a submission, and open tickets a queue: the simulator's own limits, wide enough for a
// long prefill to be submitted ahead.
constexpr std::uint64_t kMaxRegions = 65536;
constexpr std::uint64_t kMaxOpenTickets = 4096;

class SimDevice final : public Device {
 public:
  SimDevice(Profile profile, std::string profile_json);

  const DeviceInfo& info() const noexcept override { return info_; }
  Nanos now() const noexcept override;
  Result<std::size_t> wait_any(std::span<const Point> points, Nanos deadline) noexcept override;
  Result<std::unique_ptr<Buffer>> allocate(const BufferSpec& spec) noexcept override;
  Result<std::unique_ptr<Buffer>> adopt(void* host, std::uint64_t bytes) noexcept override;
  Result<std::unique_ptr<Queue>> open_queue(QueueKind kind, Priority priority) noexcept override;
  Status open_gate(Gate gate) noexcept override;

  // Prices and rates by the profile's draw of this seed from now on; nothing may be open. While a
  // draw is in force bytes don't move: it says how long work takes, not what comes of it.
  Status redraw(std::uint64_t seed);

  // For its queues, which hold the lock.
  std::mutex& lock() { return mutex_; }
  Machine& machine() { return machine_; }
  const Profile& profile() const { return profile_; }
  const Pricer& pricer() const { return pricer_; }
  bool moves_bytes() const { return moves_bytes_; }
  bool gate_is_open(Gate gate) const { return open_gates_.contains(gate); }
  void wait_for_gate(Gate gate, SimQueue& queue) { holding_.emplace(gate, &queue); }
  void stop_waiting_for_gate(const SimQueue& queue);
  void forget_queue(const SimQueue& queue);
  void forget_dependent(const Job& job);

 private:
  const Profile nominal_;
  Profile profile_;  // as drawn
  const Pricer pricer_{profile_};
  bool moves_bytes_ = true;
  DeviceInfo info_;
  Budget device_memory_, host_memory_;
  mutable std::mutex mutex_;
  Machine machine_;
  std::vector<SimQueue*> queues_;
  std::set<Gate> open_gates_;
  std::multimap<Gate, SimQueue*> holding_;
};

}  // namespace kvroof::sim
