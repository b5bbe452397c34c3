// SPDX-License-Identifier: Apache-2.0
#include "suites/verify/cell.h"

#include <algorithm>
#include <utility>

namespace kvroof {
namespace {

constexpr std::uint64_t kWrites = 8;  // caches' worth of patterns that may be on their way

template <class T>
Status keep(Result<T> from, T& to) {
  if (!from) return from.status();
  to = std::move(*from);
  return {};
}

}  // namespace

KvLayout cell_layout(Layout layout, KvOrder order, DType dtype, std::uint32_t kv_heads) {
  return {.layout = layout,
          .dtype = dtype,
          .layers = 2,
          .kv_heads = kv_heads,
          .head_dim = 64,
          .block_tokens = 4,
          .blocks = 48,
          .order = order};
}

Result<std::unique_ptr<Cell>> Cell::create(Device& device, const CellSpec& spec) {
  std::unique_ptr<Cell> cell(new Cell(device, spec));
  if (Status status = cell->set_up(); !status.ok()) return status;
  return cell;
}

Status Cell::set_up() {
  const std::uint64_t bytes = spec_.kv.cache_bytes();
  for (const auto& [kind, size, to] : {std::tuple{MemoryKind::device, bytes, &cache_},
                                       {MemoryKind::pinned, kWrites * bytes, &written_},
                                       {MemoryKind::pinned, bytes, &seen_}}) {
    if (Status e = keep(device_.allocate({.kind = kind, .bytes = size}), *to); !e.ok()) return e;
  }
  for (std::unique_ptr<Queue>* queue : {&writer_, &reader_}) {
    if (Status e = keep(device_.open_queue(QueueKind::compute, Priority::normal), *queue); !e.ok())
      return e;
  }
  EngineConfig config{.kv = spec_.kv, .blocks_per_chunk = spec_.blocks_per_chunk};
  config.host_tier_bytes =
      std::uint64_t{spec_.tier_chunks} * spec_.blocks_per_chunk * spec_.kv.block_bytes();
  config.integrity = spec_.checksum;
  config.copy = spec_.copy;
  config.check_tokens = spec_.check_tokens;
  config.disk = spec_.disk;
  return keep(Engine::create(device_, *cache_, config), engine_);
}

// Blocks one after the other on the host's side, from `offset` on.
std::vector<Region> Cell::regions(std::span<const BlockId> blocks, Buffer& host, bool to_host,
                                  std::uint64_t offset) const {
  std::vector<Region> list;
  const std::uint64_t bytes = spec_.kv.region_bytes();
  for (const BlockId block : blocks) {
    for (std::uint32_t i = 0; i < spec_.kv.regions_per_block(); ++i, offset += bytes) {
      const Span cache{cache_.get(), spec_.kv.region_offset(block, i), bytes};
      const Span side{&host, offset, bytes};
      list.push_back(to_host ? Region{cache, side} : Region{side, cache});
    }
  }
  return list;
}

Result<Point> Cell::submit(Queue& queue, std::span<const Point> fences,
                           std::span<const Region> regions) {
  const std::uint64_t most = device_.info().max_regions;
  Ticket last = 0;
  for (std::size_t at = 0; at < regions.size();) {
    const std::size_t count =
        most == 0 ? regions.size() : std::min<std::size_t>(most, regions.size() - at);
    const auto ticket =
        queue.submit({.fences = fences, .body = Regions{.list = regions.subspan(at, count)}});
    if (!ticket) return ticket.status();
    last = *ticket;
    at += count;
  }
  return Point{&queue, last};
}

Result<Point> Cell::write(std::span<const BlockId> blocks, std::span<const std::uint32_t> names,
                          std::span<const Point> fences) {
  const std::uint64_t bytes = spec_.kv.block_bytes(), all = blocks.size() * bytes;
  if (written_bytes_ + all > written_->facts().bytes) {
    return Status{Code::no_memory, "a check writes more patterns than its buffer has room for"};
  }
  const std::uint64_t offset = std::exchange(written_bytes_, written_bytes_ + all);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const auto copy = written_->host().subspan(offset + i * bytes, bytes);
    if (Status e = write_pattern(spec_.kv, {.block = names[i]}, copy); !e.ok()) return e;
  }
  return submit(*writer_, fences, regions(blocks, *written_, false, offset));
}

Result<Point> Cell::read(std::span<const BlockId> blocks, std::span<const Point> fences) {
  return submit(*reader_, fences, regions(blocks, *seen_, true, 0));
}

Status Cell::hold(Gate gate) {
  return writer_->submit({.fences = {}, .body = Hold{gate}}).status();
}

Status Cell::wait(Point point) {
  const auto waited = device_.wait_any({&point, 1}, Nanos::max());
  if (!waited) return waited.status();
  Completion done[16];
  Status outcome;
  for (Ticket seen = 0; seen < point.ticket;) {
    const auto count = point.queue->reap(done);
    if (!count || *count == 0) return count.status();  // reaped before
    for (std::size_t i = 0; i < *count; ++i) {
      seen = done[i].ticket;
      if (outcome.ok()) outcome = done[i].status;
    }
  }
  return outcome;
}

Status Cell::settle() {
  for (;;) {
    if (Status e = engine_->poll(); !e.ok()) return e;
    const std::vector<Point> open = engine_->open_points();
    if (open.empty()) return {};
    const auto waited = device_.wait_any(open, Nanos::max());
    if (!waited) return waited.status();
  }
}

Result<TransferResult> Cell::wait(Result<TransferId> id) {
  if (!id) return id.status();
  auto result = engine_->wait(*id, Nanos::max());
  if (result && !result->status.ok()) return result->status;
  return result;
}

template <class Ask>
Result<std::vector<Point>> Cell::drive(Ask ask) {
  for (;;) {
    auto points = ask();
    if (points.code() != Code::busy) return points;
    if (Status e = engine_->poll(); !e.ok()) return e;
    const auto open = engine_->open_points();
    const auto waited = device_.wait_any(open, Nanos::max());
    if (!waited) return waited.status();
    if (Status e = engine_->poll(); !e.ok()) return e;
  }
}

Result<std::vector<Point>> Cell::fences_for_write(std::span<const BlockId> blocks) {
  return drive([&] { return engine_->fences_for_write(blocks); });
}

Result<std::vector<Point>> Cell::fences_for_read(std::span<const BlockId> blocks) {
  return drive([&] { return engine_->fences_for_read(blocks); });
}

Result<std::string> Cell::mismatch(std::span<const BlockId> blocks,
                                   std::span<const std::uint32_t> names) {
  const auto point = read(blocks);
  if (!point) return point.status();
  if (Status e = wait(*point); !e.ok()) return e;
  return seen_mismatch(names);
}

std::string Cell::seen_mismatch(std::span<const std::uint32_t> names) {
  const std::uint64_t bytes = spec_.kv.block_bytes();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto copy = seen_->host().subspan(i * bytes, bytes);
    const Status right = check_pattern(spec_.kv, {.block = names[i]}, copy);
    if (!right.ok()) return right.text;
  }
  return {};
}

std::uint64_t Cell::vectors(std::size_t blocks) const {
  return blocks * spec_.kv.planes * spec_.kv.layers * spec_.kv.block_tokens * spec_.kv.kv_heads;
}

}  // namespace kvroof
