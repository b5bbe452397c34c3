// SPDX-License-Identifier: Apache-2.0
#include "backends/host/device.h"

#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "backends/disk/lane.h"
#include "backends/host/buffer.h"
#include "backends/host/info.h"
#include "backends/host/queue.h"
#include "backends/os/errors.h"
#include "backends/queues/lane.h"

namespace kvroof::host {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

HostDevice::HostDevice(DeviceInfo info, std::optional<double> link_rate, disk::Way disk_way)
    : info_(std::move(info)),
      disk_way_(disk_way),
      device_memory_(info_.memory_bytes),
      host_memory_(info_.host_memory_bytes) {
  if (!link_rate) return;
  pacer_in_.emplace(*link_rate);
  pacer_out_.emplace(*link_rate);
}

Nanos HostDevice::now() const noexcept {
  return std::chrono::duration_cast<Nanos>(Clock::now().time_since_epoch());
}

Result<std::size_t> HostDevice::wait_any(std::span<const Point> points, Nanos deadline) noexcept
    try {
  std::unique_lock lock(state_.mutex);
  std::vector<std::shared_ptr<Timeline>> timelines;
  for (const Point& point : points) {
    timelines.push_back(state_.find(point));
    if (!timelines.back()) {
      return queues::unknown_point();
    }
  }
  if (points.empty() && deadline == Nanos::max()) {
    return queues::endless_sleep();
  }
  std::optional<std::size_t> hit;
  const auto completed = [&] {
    for (std::size_t i = 0; i < points.size() && !hit; ++i) {
      if (timelines[i]->done(points[i].ticket)) hit = i;
    }
    return hit.has_value();
  };
  if (deadline == Nanos::max()) {
    state_.changed.wait(lock, completed);
  } else {
    state_.changed.wait_until(lock, Clock::time_point(deadline), completed);
  }
  if (hit) return *hit;
  return queues::too_late();
} catch (...) {
  return os::from_exception();
}

Result<std::unique_ptr<Buffer>> HostDevice::allocate(const BufferSpec& spec) noexcept try {
  os::Budget& budget = spec.kind == MemoryKind::device ? device_memory_ : host_memory_;
  auto buffer = HostBuffer::allocate(
      this, spec, budget,
      [this](const std::byte* data, std::uint64_t bytes) { ops_.written(data, bytes); });
  if (!buffer) return buffer.status();
  return std::unique_ptr<Buffer>(std::move(*buffer));
} catch (...) {
  return os::from_exception();
}

Result<std::unique_ptr<Buffer>> HostDevice::adopt(void* host, std::uint64_t bytes) noexcept try {
  auto buffer = HostBuffer::adopt(this, host, bytes);
  if (!buffer) return buffer.status();
  return std::unique_ptr<Buffer>(std::move(*buffer));
} catch (...) {
  return os::from_exception();
}

Result<std::unique_ptr<Queue>> HostDevice::open_queue(QueueKind kind, Priority) noexcept try {
  if (kind == QueueKind::disk_read || kind == QueueKind::disk_write) {
    const disk::LaneLimits limits{info_.max_regions, info_.max_open_tickets};
    return std::unique_ptr<Queue>(
        std::make_unique<disk::DiskQueue>(kind, limits, this, neighbours_, disk_way_));
  }
  const unsigned workers = kind == QueueKind::compute ? 1 : copy_workers();
  const QueueLimits limits{info_.max_regions, info_.max_open_tickets};
  std::optional<Pacer>& pacer = kind == QueueKind::copy_in ? pacer_in_ : pacer_out_;
  const bool paced = pacer && (kind == QueueKind::copy_in || kind == QueueKind::copy_out);
  return std::unique_ptr<Queue>(std::make_unique<HostQueue>(kind, workers, limits, this, state_,
                                                            ops_, paced ? &*pacer : nullptr));
} catch (...) {
  return os::from_exception();
}

Status HostDevice::open_gate(Gate gate) noexcept try {
  {
    std::lock_guard lock(state_.mutex);
    state_.open_gates.insert(gate);
  }
  state_.changed.notify_all();
  return {};
} catch (...) {
  return os::from_exception();
}

}  // namespace kvroof::host
