// SPDX-License-Identifier: Apache-2.0
#include "transfer/disk/disk_hops.h"

#include <algorithm>
#include <array>
#include <utility>

namespace kvroof {
namespace {

template <class T>
Status keep(Result<T> from, T& to) {
  if (!from) return from.status();
  to = std::move(*from);
  return {};
}

}  // namespace

Result<std::unique_ptr<DiskHops>> DiskHops::create(Device& device, HostTier& tier,
                                                   const DiskTierConfig& config,
                                                   std::uint32_t depth, Nanos timeout) {
  auto disk = DiskTier::open(config);
  if (!disk) return disk.status();
  std::unique_ptr<DiskHops> hops(new DiskHops(device, tier, std::move(*disk), timeout));
  if (Status status = hops->set_up(depth); !status.ok()) return status;
  return hops;
}

Status DiskHops::set_up(std::uint32_t depth) {
  const std::uint32_t headers = 2 * depth;  // reads and writes
  const BufferSpec spec{.kind = MemoryKind::pinned, .bytes = headers * kChunkHeaderBytes};
  if (Status e = keep(device_.allocate(spec), headers_); !e.ok()) return e;
  for (std::uint32_t i = headers; i-- > 0;) free_headers_.push_back(i);
  // A request waits for reads, and for writes nobody does.
  if (Status e = keep(device_.open_queue(QueueKind::disk_read, Priority::high), read_queue_);
      !e.ok()) {
    return e;
  }
  return keep(device_.open_queue(QueueKind::disk_write, Priority::low), write_queue_);
}

Span DiskHops::header_span(std::uint32_t header) const {
  return {headers_.get(), header * kChunkHeaderBytes, kChunkHeaderBytes};
}

std::span<std::byte> DiskHops::bytes_of(const Span& span) const {
  const auto host = span.buffer->host();
  return host.empty() ? host : host.subspan(span.offset, span.bytes);
}

std::optional<std::uint32_t> DiskHops::take_header() {
  if (free_headers_.empty()) return std::nullopt;
  const std::uint32_t header = free_headers_.back();
  free_headers_.pop_back();
  return header;
}

bool DiskHops::leaves(const ChunkKey& key) const {
  const std::string name = chunk_file_name(key);
  return std::ranges::find(removals_, name) != removals_.end() ||
         std::ranges::find(writes_, name, &Write::removed) != writes_.end();
}

void DiskHops::push(Write write) {
  if (writes_.empty()) writing_.progress = device_.now();
  writes_.push_back(std::move(write));
}

void DiskHops::push(Read read) {
  if (reads_.empty()) reading_.progress = device_.now();
  reads_.push_back(std::move(read));
}

void DiskHops::write(SlotId slot) {
  const ChunkKey& key = tier_.key(slot);
  if (writing_.lost) ++counters_.missed_writes;
  if (writing_.lost || disk_.find(key)) return;
  waiting_.push_back({slot, key});
  feed_writes();
}

void DiskHops::feed_writes() {
  if (writing_.lost) return;
  while (feed_removals() && !waiting_.empty() && feed_write(waiting_.front())) {
    waiting_.pop_front();
  }
}

// What has to go goes first: a later write may bring the same name.
bool DiskHops::feed_removals() {
  for (std::string& name : disk_.take_removals()) removals_.push_back(std::move(name));
  while (!removals_.empty()) {
    const auto ticket = write_queue_->submit({.fences = {}, .body = disk_.body(removals_.front())});
    if (ticket.code() == Code::busy) return false;
    if (ticket.ok()) push(Write{.file = {}, .removed = removals_.front()});
    removals_.pop_front();
  }
  return true;
}

// False: its turn has not come.
bool DiskHops::feed_write(const Waiting& waiting) {
  const bool there = tier_.find(waiting.key) == waiting.slot && tier_.visible(waiting.slot);
  if (!there) {
    ++counters_.missed_writes;
    return true;
  }
  const auto header = take_header();
  if (!header) return false;
  auto file = disk_.begin_write(waiting.key);
  if (!file) {
    free_headers_.push_back(*header);
    return true;  // written meanwhile, or refused, which the disk tier counts
  }
  // What had to make room for it is removed ahead of it.
  const bool removed = feed_removals();
  const std::array<Span, 2> pieces = {header_span(*header), tier_.span(waiting.slot)};
  if (removed && !bytes_of(pieces[1]).empty()) {
    disk_.write_header(*file, tier_.sum(waiting.slot), bytes_of(pieces[1]), bytes_of(pieces[0]));
  }
  Status status{Code::busy, {}};
  if (removed) {
    status = write_queue_->submit({.fences = {}, .body = disk_.body(*file, pieces)}).status();
  }
  if (!status.ok()) {
    disk_.end_write(*file, {Code::aborted, "The write was not begun."});
    free_headers_.push_back(*header);
    return status.code != Code::busy;
  }
  tier_.acquire(waiting.slot);
  push(Write{std::move(file), {}, waiting.slot, *header});
  return true;
}

void DiskHops::feed_reads(std::vector<FetchedChunk>& fetched) {
  for (; !wanted_.empty(); wanted_.pop_front()) {
    const auto [key, tag] = wanted_.front();
    const SlotId held = tier_.find(key);
    if (held != kNoSlot && !tier_.visible(held)) return;  // somebody brings it already
    const Status begun = held == kNoSlot ? begin_read(key, tag) : Status{};
    if (begun.code == Code::busy) return;
    if (held != kNoSlot || !begun.ok()) fetched.push_back({tag, begun, {}});
  }
}

// `busy`: its turn has not come.
Status DiskHops::begin_read(const ChunkKey& key, std::uint32_t tag) {
  if (reading_.lost) return never_ended();
  if (free_headers_.empty()) return {Code::busy, {}};
  auto file = leaves(key) ? std::nullopt : disk_.begin_read(key);
  if (!file) return {Code::invalid, "The disk tier does not have this chunk."};
  const SlotId slot = tier_.reserve(key);
  Status status = {Code::no_memory, "Every chunk of the host tier is in use."};
  if (slot != kNoSlot) {
    const std::uint32_t header = *take_header();
    const std::array<Span, 2> pieces = {header_span(header), tier_.span(slot)};
    status = read_queue_->submit({.fences = {}, .body = disk_.body(*file, pieces)}).status();
    if (status.ok()) {
      push(Read{std::move(*file), slot, header, tag, device_.now()});
      return {};
    }
    free_headers_.push_back(header);
    tier_.abandon(slot);
  }
  (void)disk_.end_read(*file, {Code::aborted, "The read was not begun."}, {}, {});
  return status;
}

Status DiskHops::poll(std::vector<FetchedChunk>& fetched) {
  if (Status status = reap_writes(); !status.ok()) return status;
  if (Status status = reap_reads(fetched); !status.ok()) return status;
  give_up_stalled(fetched);
  feed_reads(fetched);
  feed_writes();
  return {};
}

Status DiskHops::reap_writes() {
  std::array<Completion, 16> done;
  while (!writes_.empty()) {
    const auto count = write_queue_->reap(done);
    if (!count) return count.status();
    if (*count == 0) break;
    writing_.progress = device_.now();
    for (std::size_t i = 0; i < *count; ++i, ++first_write_) {
      end(writes_.front(), done[i].status);
      writes_.pop_front();
    }
  }
  return {};
}

void DiskHops::end(const Write& write, const Status& status) {
  if (!write.file) return;
  disk_.end_write(*write.file, status);
  tier_.release(write.slot);
  free_headers_.push_back(write.header);
}

Status DiskHops::reap_reads(std::vector<FetchedChunk>& fetched) {
  std::array<Completion, 16> done;
  while (!reads_.empty()) {
    const auto count = read_queue_->reap(done);
    if (!count) return count.status();
    if (*count == 0) break;
    reading_.progress = device_.now();
    for (std::size_t i = 0; i < *count; ++i, ++first_read_) {
      const Read& read = reads_.front();
      const Interval took = done[i].interval.value_or(Interval{read.submitted, device_.now()});
      fetched.push_back({read.tag, end(read, done[i].status), took});
      reads_.pop_front();
    }
  }
  return {};
}

Status DiskHops::end(const Read& read, const Status& status) {
  const auto header = bytes_of(header_span(read.header)), data = bytes_of(tier_.span(read.slot));
  Status right = disk_.end_read(read.file, status, header, data);
  free_headers_.push_back(read.header);
  if (right.ok()) {
    if (!header.empty()) tier_.set_sum(read.slot, chunk_sum_of(header));
    tier_.commit(read.slot);
    tier_.release(read.slot);
  } else {
    tier_.abandon(read.slot);
  }
  return right;
}

void DiskHops::add_open_points(std::vector<Point>& points) const {
  if (!reads_.empty()) points.push_back({read_queue_.get(), first_read_});
  if (!writes_.empty()) points.push_back({write_queue_.get(), first_write_});
}

}  // namespace kvroof
