// SPDX-License-Identifier: Apache-2.0
#include "transfer/testing/test_faulty_device.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>
#include <vector>

namespace kvroof {
namespace {

constexpr std::uint64_t kSinkBytes = 4 << 20;

class FaultyQueue final : public Queue {
 public:
  FaultyQueue(FaultyDevice& device, std::unique_ptr<Queue> inner)
      : device_(device), inner_(std::move(inner)) {}

  QueueKind kind() const noexcept override { return inner_->kind(); }

  Result<Ticket> submit(const Work& work) noexcept override {
    const Faults& faults = device_.faults;
    const auto* copy = std::get_if<Regions>(&work.body);
    if (copy != nullptr && copy->list.size() > device_.info().max_regions) {
      return Status{Code::invalid, "More regions than max_regions."};
    }
    moves_kv_ = moves_kv_ || is_copy() || moves_rows(work);
    if (moves_kv_ && faults.max_open_tickets > 0 &&
        submitted_ - reaped_ >= faults.max_open_tickets) {
      return Status{Code::busy, "Busy as planted."};
    }
    Status fate = fate_of(work);
    std::vector<Point> fences;
    if (!ignores_fences(work)) {
      for (const Point& fence : work.fences) fences.push_back(unwrapped(fence));
    }
    if (is_copy() && faults.late) fences.push_back(unwrapped(*faults.late));
    Work inner{.fences = fences, .body = work.body};
    std::vector<Region> diverted;
    if (!fate.ok() || (is_copy() && faults.moves_nothing)) divert(inner, diverted);
    const Result<Ticket> ticket = inner_->submit(inner);
    if (!ticket.ok()) return ticket;
    submitted_ = *ticket;
    if (!fate.ok()) bad_[*ticket] = std::move(fate);
    return ticket;
  }

  Result<std::size_t> reap(std::span<Completion> out) noexcept override {
    if (device_.faults.lands_early && moves_kv_) {
      const std::size_t count = std::min<std::uint64_t>(out.size(), submitted_ - reaped_);
      for (std::size_t i = 0; i < count; ++i) out[i] = {++reaped_, {}, std::nullopt};
      return count;
    }
    const auto count = inner_->reap(out);
    for (std::size_t i = 0; count.ok() && i < *count; ++i) {
      reaped_ = out[i].ticket;
      const auto bad = bad_.find(reaped_);
      if (bad != bad_.end() && !device_.faults.hides_failures) out[i].status = bad->second;
    }
    return count;
  }

  static Point unwrapped(const Point& point) {
    return {static_cast<FaultyQueue*>(point.queue)->inner_.get(), point.ticket};
  }

 private:
  bool is_copy() const { return kind() == QueueKind::copy_in || kind() == QueueKind::copy_out; }

  template <class Body>
  static bool is_op(const Work& work) {
    const auto* op = std::get_if<Op>(&work.body);
    return op != nullptr && std::holds_alternative<Body>(*op);
  }
  static bool moves_rows(const Work& work) { return is_op<Gather>(work) || is_op<Scatter>(work); }

  bool ignores_fences(const Work& work) const {
    const Faults& faults = device_.faults;
    return (kind() == QueueKind::copy_in && faults.unfenced_in) ||
           (kind() == QueueKind::copy_out && faults.unfenced_out) ||
           (is_op<Gather>(work) && faults.unfenced_gather) ||
           (is_op<Scatter>(work) && faults.unfenced_scatter);
  }

  Status fate_of(const Work& work) const {
    const auto fences = ignores_fences(work) ? std::span<const Point>() : work.fences;
    for (const Point& fence : fences) {
      if (static_cast<FaultyQueue*>(fence.queue)->bad_.contains(fence.ticket)) {
        return {Code::aborted, "A fence failed."};
      }
    }
    const auto* op = std::get_if<Op>(&work.body);
    const Faults& faults = device_.faults;
    const bool fails = (faults.fails && faults.fails(kind(), submitted_ + 1)) ||
                       (op != nullptr && faults.fails_op && faults.fails_op(*op));
    return fails ? Status{Code::failed, "Failed as planted."} : Status{};
  }

  void divert(Work& work, std::vector<Region>& regions) {
    if (auto* fill = std::get_if<Fill>(&work.body)) {
      fill->span = {&device_.sink(fill->span.buffer->facts().kind), 0, fill->span.bytes};
    }
    if (auto* op = std::get_if<Op>(&work.body)) divert(*op);
    auto* copy = std::get_if<Regions>(&work.body);
    if (copy == nullptr) return;
    std::uint64_t at = 0;
    for (Region region : copy->list) {
      region.destination.buffer = &device_.sink(region.destination.buffer->facts().kind);
      region.destination.offset = std::exchange(at, at + region.destination.bytes);
      regions.push_back(region);
    }
    copy->list = regions;
  }

  // As many rows as before, somewhere else.
  void divert(Op& op) {
    if (auto* gather = std::get_if<Gather>(&op)) {
      gather->out = {&device_.sink(MemoryKind::device), 0, gather->out.bytes};
    } else if (auto* scatter = std::get_if<Scatter>(&op)) {
      scatter->out = {&device_.sink(MemoryKind::device), 0, scatter->out.bytes};
    }
  }

  FaultyDevice& device_;
  std::unique_ptr<Queue> inner_;
  bool moves_kv_ = false;
  std::map<Ticket, Status> bad_;
  Ticket submitted_ = 0, reaped_ = 0;
};

// Pinned memory that isn't, as where the lock limit is reached.
class PageableBuffer final : public Buffer {
 public:
  explicit PageableBuffer(std::unique_ptr<Buffer> inner)
      : inner_(std::move(inner)), facts_(inner_->facts()) {
    facts_.kind = MemoryKind::pageable;
  }
  const BufferFacts& facts() const noexcept override { return facts_; }
  std::span<std::byte> host() noexcept override { return inner_->host(); }

 private:
  std::unique_ptr<Buffer> inner_;
  BufferFacts facts_;
};

std::unique_ptr<Buffer> make_sink(Device& device, MemoryKind kind) {
  auto sink = device.allocate({.kind = kind, .bytes = kSinkBytes});
  if (!sink.ok()) std::abort();
  return std::move(*sink);
}

}  // namespace

FaultyDevice::FaultyDevice(std::unique_ptr<Device> inner, Faults with)
    : faults(std::move(with)),
      inner_(std::move(inner)),
      info_(inner_->info()),
      device_sink_(make_sink(*inner_, MemoryKind::device)),
      host_sink_(make_sink(*inner_, MemoryKind::pinned)) {
  if (faults.max_regions > 0) info_.max_regions = faults.max_regions;
  if (faults.max_open_tickets > 0) info_.max_open_tickets = faults.max_open_tickets;
  info_.max_registration_bytes = faults.max_registration_bytes;
  info_.numa_node = faults.numa_node;
}

FaultyDevice::~FaultyDevice() = default;

const DeviceInfo& FaultyDevice::info() const noexcept { return info_; }

Result<std::size_t> FaultyDevice::wait_any(std::span<const Point> points, Nanos deadline) noexcept {
  std::vector<Point> inner;
  for (const Point& point : points) inner.push_back(FaultyQueue::unwrapped(point));
  return inner_->wait_any(inner, deadline);
}

Result<std::unique_ptr<Buffer>> FaultyDevice::allocate(const BufferSpec& spec) noexcept {
  auto buffer = inner_->allocate(spec);
  const std::uint64_t ceiling = faults.max_registration_bytes;
  const bool pageable = faults.pageable || (ceiling > 0 && spec.bytes > ceiling);
  if (!buffer.ok() || !pageable || spec.kind != MemoryKind::pinned) return buffer;
  return std::unique_ptr<Buffer>(std::make_unique<PageableBuffer>(std::move(*buffer)));
}

Result<std::unique_ptr<Queue>> FaultyDevice::open_queue(QueueKind kind,
                                                        Priority priority) noexcept {
  auto queue = inner_->open_queue(kind, priority);
  if (!queue.ok()) return queue;
  return std::unique_ptr<Queue>(std::make_unique<FaultyQueue>(*this, std::move(*queue)));
}

Buffer& FaultyDevice::sink(MemoryKind kind) {
  return kind == MemoryKind::device ? *device_sink_ : *host_sink_;
}

}  // namespace kvroof
