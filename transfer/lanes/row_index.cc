// SPDX-License-Identifier: Apache-2.0
#include "transfer/lanes/row_index.h"

#include <cstring>
#include <limits>

namespace kvroof {
namespace {

using Row = std::int32_t;

}  // namespace

// The rows are the host's to write, whether or not the cache has contents.
Result<RowIndex> RowIndex::create(Device& device, const KvLayout& kv,
                                  std::uint32_t blocks_per_chunk, std::uint64_t places) {
  if (kv.cache_bytes() / kv.region_bytes() > std::numeric_limits<Row>::max()) {
    return Status{Code::invalid,
                  "Ops name the cache's regions by 32-bit numbers, and it has more: leave out "
                  "staged copies and checksums, or use fewer blocks."};
  }
  const std::uint64_t rows = places * blocks_per_chunk * kv.regions_per_block();
  auto buffer = device.allocate({.kind = MemoryKind::pinned, .bytes = rows * sizeof(Row)});
  if (!buffer.ok()) return buffer.status();
  return RowIndex(kv, blocks_per_chunk, std::move(*buffer));
}

Span RowIndex::span(std::uint64_t place, std::size_t blocks) const {
  return {rows_.get(), place * rows_of(blocks_per_chunk_) * sizeof(Row),
          rows_of(blocks) * sizeof(Row)};
}

void RowIndex::set(std::uint64_t place, std::span<const BlockId> blocks) {
  std::byte* to = rows_->host().data() + span(place, blocks.size()).offset;
  for (const BlockId block : blocks) {
    for (std::uint32_t region = 0; region < kv_.regions_per_block(); ++region) {
      const auto row = static_cast<Row>(kv_.region_offset(block, region) / kv_.region_bytes());
      std::memcpy(to, &row, sizeof(row));
      to += sizeof(row);
    }
  }
}

}  // namespace kvroof
