// SPDX-License-Identifier: Apache-2.0
#include "transfer/lanes/staging.h"

#include <cstring>
#include <limits>
#include <utility>

namespace kvroof {
namespace {

using Row = std::int32_t;

std::uint64_t rows_of_place(const KvLayout& kv, std::uint32_t blocks_per_chunk) {
  return std::uint64_t{blocks_per_chunk} * kv.regions_per_block();
}

}  // namespace

std::uint64_t Staging::bytes_of_place(const KvLayout& kv, std::uint32_t blocks_per_chunk) {
  return blocks_per_chunk * kv.block_bytes();
}

// The rows are the host's to write, whether or not the cache has contents.
Result<Staging> Staging::create(Device& device, const KvLayout& kv, std::uint32_t blocks_per_chunk,
                                std::uint64_t places, bool backed) {
  if (kv.cache_bytes() / kv.region_bytes() > std::numeric_limits<Row>::max()) {
    return Status{Code::invalid,
                  "Staged copies name the cache's regions by 32-bit numbers, and it has more: use "
                  "another copy method or fewer blocks."};
  }
  auto chunks = device.allocate({.kind = MemoryKind::device,
                                 .bytes = places * bytes_of_place(kv, blocks_per_chunk),
                                 .backed = backed});
  if (!chunks.ok()) return chunks.status();
  auto rows =
      device.allocate({.kind = MemoryKind::pinned,
                       .bytes = places * rows_of_place(kv, blocks_per_chunk) * sizeof(Row)});
  if (!rows.ok()) return rows.status();
  return Staging(kv, blocks_per_chunk, std::move(*chunks), std::move(*rows));
}

Staging::Staging(const KvLayout& kv, std::uint32_t blocks_per_chunk, std::unique_ptr<Buffer> chunks,
                 std::unique_ptr<Buffer> rows)
    : kv_(kv),
      blocks_per_chunk_(blocks_per_chunk),
      chunks_(std::move(chunks)),
      rows_(std::move(rows)) {}

std::uint32_t Staging::rows_of(std::size_t blocks) const {
  return static_cast<std::uint32_t>(blocks) * kv_.regions_per_block();
}

Span Staging::row_span(std::uint64_t place, std::size_t blocks) const {
  return {rows_.get(), place * rows_of_place(kv_, blocks_per_chunk_) * sizeof(Row),
          rows_of(blocks) * sizeof(Row)};
}

Span Staging::span(std::uint64_t place, std::size_t blocks) const {
  return {chunks_.get(), place * bytes_of_place(kv_, blocks_per_chunk_),
          blocks * kv_.block_bytes()};
}

void Staging::set_rows(std::uint64_t place, std::span<const BlockId> blocks) {
  std::byte* to = rows_->host().data() + row_span(place, blocks.size()).offset;
  for (const BlockId block : blocks) {
    for (std::uint32_t region = 0; region < kv_.regions_per_block(); ++region) {
      const auto row = static_cast<Row>(kv_.region_offset(block, region) / kv_.region_bytes());
      std::memcpy(to, &row, sizeof(row));
      to += sizeof(row);
    }
  }
}

Gather Staging::gather(Buffer& cache, std::uint64_t place, std::size_t blocks) const {
  return {cache_span(cache), row_span(place, blocks), span(place, blocks), rows_of(blocks),
          kv_.region_bytes()};
}

Scatter Staging::scatter(Buffer& cache, std::uint64_t place, std::size_t blocks) const {
  return {span(place, blocks), row_span(place, blocks), cache_span(cache), rows_of(blocks),
          kv_.region_bytes()};
}

}  // namespace kvroof
