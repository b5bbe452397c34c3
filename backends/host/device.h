// SPDX-License-Identifier: Apache-2.0
// The CPU as a device: half of the free memory is its own, worker threads are its copy engines.
#pragma once
#include <optional>

#include "backends/api/device.h"
#include "backends/disk/engine.h"
#include "backends/host/neighbours.h"
#include "backends/host/ops.h"
#include "backends/host/pacer.h"
#include "backends/host/state.h"
#include "backends/os/memory.h"

namespace kvroof::host {

class HostDevice final : public Device {
 public:
  // `link_rate`: bytes/s of each direction between host and device memory; empty: as it is.
  // `disk_way`: what moves the files of disk queues.
  explicit HostDevice(DeviceInfo info, std::optional<double> link_rate = {},
                      disk::Way disk_way = disk::Way::best);

  const DeviceInfo& info() const noexcept override { return info_; }
  Nanos now() const noexcept override;  // std::chrono::steady_clock
  Result<std::size_t> wait_any(std::span<const Point> points, Nanos deadline) noexcept override;
  Result<std::unique_ptr<Buffer>> allocate(const BufferSpec& spec) noexcept override;
  Result<std::unique_ptr<Buffer>> adopt(void* host, std::uint64_t bytes) noexcept override;
  Result<std::unique_ptr<Queue>> open_queue(QueueKind kind, Priority priority) noexcept override;
  Status open_gate(Gate gate) noexcept override;

 private:
  const DeviceInfo info_;
  const disk::Way disk_way_;
  os::Budget device_memory_, host_memory_;
  std::optional<Pacer> pacer_in_, pacer_out_;
  Ops ops_{device_memory_};
  State state_;
  HostNeighbours neighbours_{state_, ops_};
};

}  // namespace kvroof::host
