// SPDX-License-Identifier: Apache-2.0
// A GPU with streams and events, through whichever driver is given.
#pragma once
#include <memory>

#include "backends/api/device.h"
#include "backends/stream/state.h"

namespace kvroof::stream {

class StreamDevice final : public Device {
 public:
  // `piece_bytes`: the most that one registration of host memory takes.
  static Result<std::unique_ptr<Device>> create(std::unique_ptr<Driver> driver, DeviceInfo info,
                                                std::uint64_t piece_bytes);

  ~StreamDevice() override;

  const DeviceInfo& info() const noexcept override { return info_; }
  Nanos now() const noexcept override;  // std::chrono::steady_clock
  Result<std::size_t> wait_any(std::span<const Point> points, Nanos deadline) noexcept override;
  Result<std::unique_ptr<Buffer>> allocate(const BufferSpec& spec) noexcept override;
  Result<std::unique_ptr<Buffer>> adopt(void* host, std::uint64_t bytes) noexcept override;
  Result<std::unique_ptr<Queue>> open_queue(QueueKind kind, Priority priority) noexcept override;
  Status open_gate(Gate gate) noexcept override;

 private:
  StreamDevice(std::unique_ptr<Driver> driver, DeviceInfo info, std::uint64_t piece_bytes);

  const DeviceInfo info_;
  const std::unique_ptr<Driver> driver_;
  Memory memory_;
  State state_;
};

}  // namespace kvroof::stream
