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

// Each region's write waits for the one before it, and fails with it.
std::optional<Point> Accelerator::write(BlockId block, const Piece& piece,
                                        std::span<const Point> fences) {
  std::optional<Point> before;
  for (std::uint32_t region = 0; region < kv_.regions_per_block(); ++region) {
    const std::uint64_t each = kv_.region_bytes() / kv_.layers;
    const std::uint32_t parts = kv_.layout == Layout::block_first ? kv_.layers : 1;
    const std::uint64_t bytes = parts == 1 ? kv_.region_bytes() : each;
    for (std::uint32_t part = 0; part < parts; ++part) {
      const Span span{cache_.get(), kv_.region_offset(block, region) + part * bytes, bytes};
      const Fill fill{span, byte_of(piece, region * parts + part)};
      const auto at = before ? submit({.fences = {&*before, 1}, .body = fill})
                             : submit({.fences = fences, .body = fill});
      if (!at) return std::nullopt;
      before = at;
    }
  }
  return before;
}

std::optional<Point> Accelerator::read(BlockId block, std::uint32_t place,
                                       std::span<const Point> fences) {
  std::vector<Region> regions;
  std::uint64_t to = place * kv_.block_bytes();
  for (std::uint32_t region = 0; region < kv_.regions_per_block(); ++region) {
    const std::uint64_t bytes = kv_.region_bytes();
    regions.push_back(
        {{cache_.get(), kv_.region_offset(block, region), bytes}, {seen_.get(), to, bytes}});
    to += bytes;
  }
  std::optional<Point> before;
  for (const Region& region : regions) {  // a faulty device may take one at a time
    const Regions copy{.list = {&region, 1}};
    const auto at = before ? submit({.fences = {&*before, 1}, .body = copy})
                           : submit({.fences = fences, .body = copy});
    if (!at) return std::nullopt;
    before = at;
  }
  return before;
}

bool Accelerator::is(std::uint32_t place, const Piece& piece) const {
  const bool by_block = kv_.layout == Layout::block_first;
  const std::uint32_t parts = by_block ? kv_.layers : kv_.regions_per_block();
  const std::uint64_t bytes = kv_.block_bytes() / parts;
  const auto all = seen_->host().subspan(place * kv_.block_bytes(), kv_.block_bytes());
  for (std::uint32_t part = 0; part < parts; ++part) {
    const auto value = static_cast<std::byte>(byte_of(piece, part));
    const auto of_part = all.subspan(part * bytes, bytes);
    if (!std::ranges::all_of(of_part, [&](std::byte b) { return b == value; })) return false;
  }
  return true;
}

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
