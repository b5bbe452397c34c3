// SPDX-License-Identifier: Apache-2.0
#include "backends/stream/device.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "backends/os/errors.h"
#include "backends/queues/lane.h"
#include "backends/stream/buffer.h"
#include "backends/stream/queue.h"

namespace kvroof::stream {
namespace {

using namespace std::chrono_literals;

// Asking the driver takes a microsecond: at first as often as that, then less.
void pause(unsigned round, Nanos deadline) {
  constexpr unsigned kEager = 100;
  if (round < kEager) return std::this_thread::yield();
  std::this_thread::sleep_for(std::clamp<Nanos>(deadline - steady_now(), 0ns, 20us));
}

}  // namespace

Result<std::unique_ptr<Device>> StreamDevice::create(std::unique_ptr<Driver> driver,
                                                     DeviceInfo info, std::uint64_t piece_bytes) {
  if (Status status = driver->use(); !status.ok()) return status;
  info.max_registration_bytes = piece_bytes;
  std::unique_ptr<StreamDevice> made(
      new StreamDevice(std::move(driver), std::move(info), piece_bytes));
  if (Status status = made->state_.clock.open(); !status.ok()) return status;
  return std::unique_ptr<Device>(std::move(made));
}

StreamDevice::StreamDevice(std::unique_ptr<Driver> driver, DeviceInfo info,
                           std::uint64_t piece_bytes)
    : info_(std::move(info)),
      driver_(std::move(driver)),
      memory_{*driver_, os::Budget(info_.memory_bytes), os::Budget(info_.host_memory_bytes),
              piece_bytes},
      state_(*driver_) {}

StreamDevice::~StreamDevice() { (void)driver_->use(); }  // for what its members give back

Nanos StreamDevice::now() const noexcept { return steady_now(); }

Result<std::size_t> StreamDevice::wait_any(std::span<const Point> points, Nanos deadline) noexcept
    try {
  if (points.empty() && deadline == Nanos::max()) {
    return queues::endless_sleep();
  }
  (void)driver_->use();
  for (unsigned round = 0;; ++round) {
    {
      std::lock_guard lock(state_.mutex);
      state_.poll();
      for (std::size_t i = 0; i < points.size(); ++i) {
        const std::shared_ptr<Timeline> timeline = state_.find(points[i]);
        if (!timeline) {
          return queues::unknown_point();
        }
        if (points[i].ticket <= timeline->completed) return i;
      }
    }
    if (steady_now() >= deadline) {
      return queues::too_late();
    }
    pause(round, deadline);
  }
} catch (...) {
  return os::from_exception();
}

Result<std::unique_ptr<Buffer>> StreamDevice::allocate(const BufferSpec& spec) noexcept try {
  if (Status status = driver_->use(); !status.ok()) return status;
  auto buffer = StreamBuffer::allocate(this, memory_, spec);
  if (!buffer) return buffer.status();
  return std::unique_ptr<Buffer>(std::move(*buffer));
} catch (...) {
  return os::from_exception();
}

Result<std::unique_ptr<Buffer>> StreamDevice::adopt(void* host, std::uint64_t bytes) noexcept try {
  if (Status status = driver_->use(); !status.ok()) return status;
  auto buffer = StreamBuffer::adopt(this, memory_, host, bytes);
  if (!buffer) return buffer.status();
  return std::unique_ptr<Buffer>(std::move(*buffer));
} catch (...) {
  return os::from_exception();
}

Result<std::unique_ptr<Queue>> StreamDevice::open_queue(QueueKind kind, Priority priority) noexcept
    try {
  if (kind == QueueKind::disk_read || kind == QueueKind::disk_write) {
    return Status{Code::unsupported, "a GPU has no disk lanes"};
  }
  if (Status status = driver_->use(); !status.ok()) return status;
  auto stream = driver_->create_stream(priority);
  if (!stream) return stream.status();
  const QueueLimits limits{info_.max_regions, info_.max_open_tickets};
  return std::unique_ptr<Queue>(std::make_unique<StreamQueue>(kind, limits, this, state_, *stream));
} catch (...) {
  return os::from_exception();
}

Status StreamDevice::open_gate(Gate gate) noexcept try {
  if (Status status = driver_->use(); !status.ok()) return status;
  std::lock_guard lock(state_.mutex);
  state_.open_gates.insert(gate);
  state_.advance();
  return {};
} catch (...) {
  return os::from_exception();
}

}  // namespace kvroof::stream
