// SPDX-License-Identifier: Apache-2.0
#include "backends/conformance/broken_device.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <vector>

namespace kvroof::conformance {
namespace {

class BrokenQueue final : public Queue {
 public:
  BrokenQueue(Fault fault, Device& device, std::unique_ptr<Queue> inner)
      : fault_(fault), device_(device), inner_(std::move(inner)) {}

  QueueKind kind() const noexcept override { return inner_->kind(); }
  Queue* inner() const { return inner_.get(); }
  bool has_reaped(Ticket ticket) const { return ticket <= reaped_; }

  Result<Ticket> submit(const Work& work) noexcept override {
    std::vector<Point> fences;
    for (const Point& fence : work.fences) {
      const auto* queue = static_cast<const BrokenQueue*>(fence.queue);
      if (fault_ == Fault::forgets_reaped && queue->has_reaped(fence.ticket)) {
        return Status{Code::invalid, "That ticket was reaped."};
      }
      if (fault_ != Fault::drops_fences) fences.push_back({queue->inner(), fence.ticket});
    }
    Work changed{.fences = fences, .body = work.body};
    std::vector<Region> regions;
    if (const auto* given = std::get_if<Regions>(&work.body)) {
      regions = break_regions(given->list);
      std::get<Regions>(changed.body).list = regions;
    }
    auto ticket = inner_->submit(changed);
    if (!ticket && fault_ == Fault::refuses_in_silence) return Status{ticket.code(), {}};
    if (ticket && fault_ == Fault::completes_early) early_.push_back({*ticket, {}, {}});
    return ticket;
  }

  Result<std::size_t> reap(std::span<Completion> out) noexcept override {
    if (fault_ == Fault::completes_early) return reap_early(out);
    if (fault_ == Fault::reaps_twice && !again_.empty() && !out.empty()) {
      out[0] = again_.front();
      again_.pop_front();
      return std::size_t{1};
    }
    auto count = inner_->reap(out);
    if (!count) return count;
    const auto got = out.first(*count);
    if (!got.empty()) reaped_ = got.back().ticket;
    if (fault_ == Fault::reaps_twice) again_.insert(again_.end(), got.begin(), got.end());
    if (fault_ == Fault::reaps_in_reverse) std::reverse(got.begin(), got.end());
    if (fault_ == Fault::hides_failures) {
      for (Completion& each : got) each.status = {};
    }
    return count;
  }

 private:
  std::vector<Region> break_regions(std::span<const Region> list) {
    std::vector<Region> out(list.begin(), list.end());
    if (fault_ == Fault::drops_last_region && out.size() > 1) out.pop_back();
    if (fault_ != Fault::reads_early || kind() != QueueKind::copy_in) return out;
    for (Region& region : out) {
      auto shadow = device_.allocate({.kind = MemoryKind::pinned, .bytes = region.source.bytes});
      if (!shadow) continue;
      const auto from = region.source.buffer->host().subspan(region.source.offset);
      std::memcpy((*shadow)->host().data(), from.data(), region.source.bytes);
      region.source = {shadow->get(), 0, region.source.bytes};
      shadows_.push_back(std::move(*shadow));
    }
    return out;
  }

  Result<std::size_t> reap_early(std::span<Completion> out) {
    const std::size_t count = std::min(out.size(), early_.size());
    std::copy_n(early_.begin(), count, out.begin());
    early_.erase(early_.begin(), early_.begin() + static_cast<std::ptrdiff_t>(count));
    return count;
  }

  Fault fault_;
  Device& device_;
  std::vector<std::unique_ptr<Buffer>> shadows_;  // before the queue that copies out of them
  std::unique_ptr<Queue> inner_;
  Ticket reaped_ = 0;
  std::deque<Completion> again_, early_;
};

class BrokenDevice final : public Device {
 public:
  BrokenDevice(Fault fault, std::unique_ptr<Device> inner)
      : fault_(fault), inner_(std::move(inner)) {}

  const DeviceInfo& info() const noexcept override { return inner_->info(); }
  Nanos now() const noexcept override { return inner_->now(); }

  Result<std::size_t> wait_any(std::span<const Point> points, Nanos deadline) noexcept override {
    if (fault_ == Fault::completes_early && !points.empty()) return std::size_t{0};
    std::vector<Point> mapped;
    for (const Point& point : points) {
      mapped.push_back({static_cast<BrokenQueue*>(point.queue)->inner(), point.ticket});
    }
    if (fault_ == Fault::waits_for_the_last) std::reverse(mapped.begin(), mapped.end());
    auto index = inner_->wait_any(mapped, deadline);
    if (index && fault_ == Fault::waits_for_the_last) return points.size() - 1 - *index;
    return index;
  }

  Result<std::unique_ptr<Buffer>> allocate(const BufferSpec& spec) noexcept override {
    BufferSpec changed = spec;
    if (fault_ == Fault::has_no_end_of_memory && spec.bytes > info().memory_bytes) {
      changed.bytes = 1;
    }
    return inner_->allocate(changed);
  }

  Result<std::unique_ptr<Buffer>> adopt(void* host, std::uint64_t bytes) noexcept override {
    return inner_->adopt(host, bytes);
  }

  Result<std::unique_ptr<Queue>> open_queue(QueueKind kind, Priority priority) noexcept override {
    auto queue = inner_->open_queue(kind, priority);
    if (!queue) return queue;
    return std::unique_ptr<Queue>(
        std::make_unique<BrokenQueue>(fault_, *inner_, std::move(*queue)));
  }

  Status open_gate(Gate gate) noexcept override { return inner_->open_gate(gate); }

 private:
  Fault fault_;
  std::unique_ptr<Device> inner_;
};

}  // namespace

std::unique_ptr<Device> make_broken(Fault fault, std::unique_ptr<Device> device) {
  return std::make_unique<BrokenDevice>(fault, std::move(device));
}

}  // namespace kvroof::conformance
