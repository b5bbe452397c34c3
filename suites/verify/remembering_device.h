// SPDX-License-Identifier: Apache-2.0
// The device under test, remembering which host memory it gave out: so that a check can spoil what
// lies there, as a failing DIMM would.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "backends/api/device.h"

namespace kvroof {

class RememberingDevice final : public Device {
 public:
  explicit RememberingDevice(Device& device) : device_(device) {}

  const DeviceInfo& info() const noexcept override { return device_.info(); }
  Nanos now() const noexcept override { return device_.now(); }
  Result<std::size_t> wait_any(std::span<const Point> points, Nanos deadline) noexcept override {
    return device_.wait_any(points, deadline);
  }
  Result<std::unique_ptr<Buffer>> allocate(const BufferSpec& spec) noexcept override {
    return remembered(device_.allocate(spec));
  }
  Result<std::unique_ptr<Buffer>> adopt(void* host, std::uint64_t bytes) noexcept override {
    return remembered(device_.adopt(host, bytes));
  }
  Result<std::unique_ptr<Queue>> open_queue(QueueKind kind, Priority priority) noexcept override {
    return device_.open_queue(kind, priority);
  }
  Status open_gate(Gate gate) noexcept override { return device_.open_gate(gate); }

  // Flips `bit` of every copy of `bytes` in host memory, all of which must still be there. How many
  // there were.
  std::uint64_t flip_bit(std::span<const std::byte> bytes, std::uint64_t bit) const;

 private:
  Result<std::unique_ptr<Buffer>> remembered(Result<std::unique_ptr<Buffer>> buffer);

  Device& device_;
  std::vector<std::span<std::byte>> host_;
};

}  // namespace kvroof
