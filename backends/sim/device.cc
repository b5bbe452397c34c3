// SPDX-License-Identifier: Apache-2.0
// The simulated device: facts from its profile, and the clock.
#include "backends/sim/device.h"

#include <algorithm>
#include <string>
#include <utility>

#include "backends/sim/draw.h"
#include "backends/sim/errors.h"
#include "backends/sim/queue.h"

namespace kvroof::sim {
namespace {

std::uint64_t whole(const Value& value) { return static_cast<std::uint64_t>(value.value); }

double peak_of(const Profile& profile, DType dtype) {
  const auto found = profile.peak_flops.find(dtype);
  return found == profile.peak_flops.end() ? 0 : found->second.value;
}

std::string why_not(CopyMethod method, const CopyCurves& curves) {
  if (curves.in && curves.out) return {};
  return "The device profile has no rates of copying by " +
         std::string(kCopyMethodNames[static_cast<std::size_t>(method)]) +
         (curves.in ? " out of" : " into") + " the device; choose another method.";
}

DeviceInfo info_of(const Profile& profile, std::string profile_json) {
  DeviceInfo info;
  info.backend = "sim";
  info.name = profile.name;
  info.driver = "kvroof virtual time";
  info.memory_bytes = whole(profile.memory_bytes);
  info.host_memory_bytes = whole(profile.host_memory_bytes);
  info.basis = profile.basis;
  const auto basis_of = [](const std::map<DType, Value>& shares) {
    const auto bf16 = shares.find(DType::bf16);
    return bf16 == shares.end() ? Basis::measured : bf16->second.basis;
  };
  info.op_bases = {.experts = basis_of(profile.experts),
                   .latent_attention = basis_of(profile.latent_attention)};
  if (profile.peer) {
    info.op_bases.all_reduce = std::max(profile.peer->rate.basis, profile.peer->latency.basis);
  }
  if (profile.disk) {
    info.op_bases.disk =
        std::max({profile.disk->read.basis, profile.disk->write.basis, profile.disk->file.basis});
  }
  info.virtual_time = true;
  info.computes_values = false;
  for (std::size_t i = 0; i < kCopyMethods; ++i) {
    info.copy_unavailable[i] = why_not(static_cast<CopyMethod>(i), profile.copy[i]);
  }
  if (!profile.gemm.contains(DType::bf16)) {
    info.bf16_unavailable = "The device profile has no bf16 rates.";
  }
  info.max_regions = kMaxRegions;
  info.max_open_tickets = kMaxOpenTickets;
  if (profile.link.state.generation > 0) info.link_now = info.link_best = profile.link.state;
  info.peaks = {.flops_f32 = peak_of(profile, DType::f32),
                .flops_bf16 = peak_of(profile, DType::bf16),
                .link_in = profile.link.peak.value,
                .link_out = profile.link.peak.value};
  info.profile_json = std::move(profile_json);
  return info;
}

Status check_point(const Point& point, const SimDevice& device) {
  const auto* const queue = dynamic_cast<const SimQueue*>(point.queue);
  if (queue == nullptr || &queue->device() != &device) {
    return invalid("wait_any needs points of this device's queues.");
  }
  if (point.ticket == 0 || point.ticket > queue->submitted()) {
    return invalid("wait_any names ticket " + std::to_string(point.ticket) +
                   ", which its queue has not returned yet.");
  }
  return {};
}

bool completed(const Point& point) {
  return static_cast<const SimQueue*>(point.queue)->completed(point.ticket);
}

}  // namespace

SimDevice::SimDevice(Profile profile, std::string profile_json)
    : nominal_(std::move(profile)),
      profile_(nominal_),
      info_(info_of(profile_, std::move(profile_json))),
      device_memory_(info_.memory_bytes),
      host_memory_(info_.host_memory_bytes),
      machine_(pricer_.capacity()) {}

Nanos SimDevice::now() const noexcept {
  const std::lock_guard guard(mutex_);
  return machine_.now();
}

Result<std::size_t> SimDevice::wait_any(std::span<const Point> points, Nanos deadline) noexcept {
  const std::lock_guard guard(mutex_);
  for (const Point& point : points) {
    if (Status status = check_point(point, *this); !status.ok()) return status;
  }
  for (;;) {
    const auto done = std::find_if(points.begin(), points.end(), completed);
    if (done != points.end()) return static_cast<std::size_t>(done - points.begin());
    const std::optional<Nanos> next = machine_.next_event();
    const bool sleeping = points.empty() && deadline != Nanos::max();
    if (!next && !sleeping) {
      return Status{Code::stuck, "No event is left, so that none of the points can complete."};
    }
    if (!next || *next > deadline) {
      machine_.idle_until(deadline);
      return Status{Code::timeout, "The deadline passed before any of the points completed."};
    }
    machine_.advance();
  }
}

Result<std::unique_ptr<Buffer>> SimDevice::allocate(const BufferSpec& spec) noexcept {
  Budget& budget = spec.kind == MemoryKind::device ? device_memory_ : host_memory_;
  return SimBuffer::create(this, budget, spec);
}

Result<std::unique_ptr<Buffer>> SimDevice::adopt(void* host, std::uint64_t bytes) noexcept {
  if (host == nullptr || bytes == 0) return invalid("adopt needs memory of at least one byte.");
  return SimBuffer::adopt(this, host, bytes);
}

Result<std::unique_ptr<Queue>> SimDevice::open_queue(QueueKind kind, Priority) noexcept {
  const bool disk = kind == QueueKind::disk_read || kind == QueueKind::disk_write;
  if (disk && !pricer_.has_disk()) {
    return unsupported("The device profile names no disk, so that disk queues can't be opened.");
  }
  const std::lock_guard guard(mutex_);
  auto queue = std::make_unique<SimQueue>(*this, kind);
  queues_.push_back(queue.get());
  return std::unique_ptr<Queue>(std::move(queue));
}

Status SimDevice::open_gate(Gate gate) noexcept {
  const std::lock_guard guard(mutex_);
  open_gates_.insert(gate);
  const auto [first, last] = holding_.equal_range(gate);
  for (auto each = first; each != last; ++each) each->second->gate_opened();
  holding_.erase(first, last);
  return {};
}

Status SimDevice::redraw(std::uint64_t seed) {
  const std::lock_guard guard(mutex_);
  if (!std::ranges::all_of(queues_, [](const SimQueue* queue) { return queue->idle(); })) {
    return invalid("A profile is drawn anew only while nothing is open.");
  }
  profile_ = draw(nominal_, seed);
  moves_bytes_ = seed == 0;
  machine_.set_capacity(pricer_.capacity());
  return {};
}

void SimDevice::stop_waiting_for_gate(const SimQueue& queue) {
  std::erase_if(holding_, [&](const auto& each) { return each.second == &queue; });
}

void SimDevice::forget_queue(const SimQueue& queue) { std::erase(queues_, &queue); }

void SimDevice::forget_dependent(const Job& job) {
  for (SimQueue* queue : queues_) queue->forget_dependent(job);
}

}  // namespace kvroof::sim
