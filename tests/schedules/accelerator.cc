// SPDX-License-Identifier: Apache-2.0
#include "tests/schedules/accelerator.h"

#include <algorithm>

namespace kvroof::schedules {
namespace {

constexpr Nanos kLongestWait{1'000'000'000};

}  // namespace

std::unique_ptr<Accelerator> Accelerator::create(Device& device, const KvLayout& kv) {
  std::unique_ptr<Accelerator> made(new Accelerator(device, kv));
  auto cache = device.allocate({.kind = MemoryKind::device, .bytes = kv.cache_bytes()});
  auto seen = device.allocate({.kind = MemoryKind::pinned, .bytes = kv.cache_bytes()});
  auto queue = device.open_queue(QueueKind::compute, Priority::normal);
  if (!cache.ok() || !seen.ok() || !queue.ok()) return nullptr;
  made->cache_ = std::move(*cache);
  made->seen_ = std::move(*seen);
  made->queue_ = std::move(*queue);
  return made;
}

// Behind what came before it, or else behind `fences`.
template <class Body>
std::optional<Point> Accelerator::submit_behind(const std::optional<Point>& before,
                                                std::span<const Point> fences, const Body& body) {
  if (before) return submit({.fences = {&*before, 1}, .body = body});
  return submit({.fences = fences, .body = body});
}

// Each part's write waits for the one before it, and fails with it.
std::optional<Point> Accelerator::write(BlockId block, const Piece& piece,
                                        std::span<const Point> fences) {
  std::optional<Point> before;
  const std::uint32_t in_region = parts() / kv_.regions_per_block();
  const std::uint64_t bytes = kv_.region_bytes() / in_region;
  for (std::uint32_t part = 0; part < parts(); ++part) {
    const std::uint64_t region = kv_.region_offset(block, part / in_region);
    const Span span{cache_.get(), region + part % in_region * bytes, bytes};
    before = submit_behind(before, fences, Fill{span, byte_of(piece, part)});
    if (!before) return std::nullopt;
  }
  return before;
}

std::optional<Point> Accelerator::read(BlockId block, std::uint32_t place,
                                       std::span<const Point> fences) {
  const std::uint64_t bytes = kv_.region_bytes();
  std::uint64_t to = place * kv_.block_bytes();
  std::optional<Point> before;
  for (std::uint32_t i = 0; i < kv_.regions_per_block(); ++i, to += bytes) {
    const Region region{{cache_.get(), kv_.region_offset(block, i), bytes},
                        {seen_.get(), to, bytes}};
    before = submit_behind(before, fences, Regions{.list = {&region, 1}});
    if (!before) return std::nullopt;
  }
  return before;
}

bool Accelerator::is(std::uint32_t place, const Piece& piece) const {
  const std::uint64_t bytes = kv_.block_bytes() / parts();
  const auto all = seen_->host().subspan(place * kv_.block_bytes(), kv_.block_bytes());
  for (std::uint32_t part = 0; part < parts(); ++part) {
    const auto value = static_cast<std::byte>(byte_of(piece, part));
    const auto of_part = all.subspan(part * bytes, bytes);
    if (!std::ranges::all_of(of_part, [&](std::byte b) { return b == value; })) return false;
  }
  return true;
}

// Of a block: its regions, or the layers in its one region.
std::uint32_t Accelerator::parts() const { return std::max(kv_.regions_per_block(), kv_.layers); }

std::optional<Point> Accelerator::submit(const Work& work) {
  for (;;) {
    const auto ticket = queue_->submit(work);
    if (ticket.ok()) {
      submitted_ = *ticket;
      return last();
    }
    if (ticket.code() != Code::busy || !make_room()) return std::nullopt;
  }
}

bool Accelerator::make_room() {
  if (idle()) return false;
  const Point oldest{queue_.get(), reaped_ + 1};
  const bool progress = device_.wait_any({&oldest, 1}, device_.now() + kLongestWait).ok();
  reap();
  return progress;
}

void Accelerator::reap() {
  Completion done[32];
  while (!idle()) {
    const auto count = queue_->reap(done);
    if (!count.ok() || *count == 0) return;
    for (const Completion& one : std::span(done).first(*count)) {
      reaped_ = one.ticket;
      if (!one.status.ok()) failed_[one.ticket] = one.status;
    }
  }
}

std::optional<Status> Accelerator::ended(Ticket ticket) {
  reap();
  if (ticket > reaped_) return std::nullopt;
  const auto failure = failed_.find(ticket);
  return failure == failed_.end() ? Status{} : failure->second;
}

}  // namespace kvroof::schedules
