// SPDX-License-Identifier: Apache-2.0
// A test double around a real device that breaks chosen promises of the seam: to see that the
// engine copes with failures and limits, and that the checks of its duties notice a violation.
#pragma once
#include <functional>
#include <memory>
#include <optional>

#include "backends/api/device.h"

namespace kvroof {

struct Faults {
  // Honest ones, as any device may show them. A failed submission moves nothing, completes as
  // `failed`, and what is fenced on it as `aborted`.
  std::function<bool(QueueKind, Ticket)> fails = nullptr;
  std::function<bool(const Op&)> fails_op = nullptr;
  // Of queues that copy, gather or scatter; 0: the device's own.
  std::uint64_t max_regions = 0, max_open_tickets = 0;
  std::optional<Point> late =
      {};                 // what copies between host and device wait for, besides their fences
  bool pageable = false;  // pinned memory turns out not to be
  std::uint64_t max_registration_bytes = 0;  // what is larger turns out not to be
  int numa_node = -1;                        // where the device says that it is

  // Planted violations.
  bool unfenced_in = false, unfenced_out = false;  // copies of a direction ignore their fences
  bool unfenced_gather = false, unfenced_scatter = false;
  bool moves_nothing = false;   // copies complete well without moving bytes
  bool lands_early = false;     // as queues that copy, gather or scatter hand back what is to land
  bool hides_failures = false;  // failed copies are handed back as ok
};

// Keeps `inner` and hands out queues and buffers of it. Set `faults` before what they shall affect.
class FaultyDevice final : public Device {
 public:
  explicit FaultyDevice(std::unique_ptr<Device> inner, Faults with = {});
  ~FaultyDevice() override;

  const DeviceInfo& info() const noexcept override;
  Nanos now() const noexcept override { return inner_->now(); }
  Result<std::size_t> wait_any(std::span<const Point> points, Nanos deadline) noexcept override;
  Result<std::unique_ptr<Buffer>> allocate(const BufferSpec& spec) noexcept override;
  Result<std::unique_ptr<Buffer>> adopt(void* host, std::uint64_t bytes) noexcept override {
    return inner_->adopt(host, bytes);
  }
  Result<std::unique_ptr<Queue>> open_queue(QueueKind kind, Priority priority) noexcept override;
  Status open_gate(Gate gate) noexcept override { return inner_->open_gate(gate); }

  Buffer& sink(MemoryKind kind);  // where the bytes of copies go that must not arrive

  Faults faults;

 private:
  std::unique_ptr<Device> inner_;
  DeviceInfo info_;
  std::unique_ptr<Buffer> device_sink_, host_sink_;
};

}  // namespace kvroof
