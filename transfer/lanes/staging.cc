// SPDX-License-Identifier: Apache-2.0
#include "transfer/lanes/staging.h"

namespace kvroof {

std::uint64_t Staging::bytes_of_place(const KvLayout& kv, std::uint32_t blocks_per_chunk) {
  return blocks_per_chunk * kv.block_bytes();
}

Result<Staging> Staging::create(Device& device, const KvLayout& kv, std::uint32_t blocks_per_chunk,
                                std::uint64_t places, bool backed) {
  auto chunks = device.allocate({.kind = MemoryKind::device,
                                 .bytes = places * bytes_of_place(kv, blocks_per_chunk),
                                 .backed = backed});
  if (!chunks.ok()) return chunks.status();
  return Staging(kv, blocks_per_chunk, std::move(*chunks));
}

Span Staging::span(std::uint64_t place, std::size_t blocks) const {
  return {chunks_.get(), place * bytes_of_place(kv_, blocks_per_chunk_),
          blocks * kv_.block_bytes()};
}

Gather Staging::gather(Buffer& cache, const RowIndex& index, std::uint64_t place,
                       std::size_t blocks) const {
  return {cache_span(cache), index.span(place, blocks), span(place, blocks), index.rows_of(blocks),
          kv_.region_bytes()};
}

Scatter Staging::scatter(Buffer& cache, const RowIndex& index, std::uint64_t place,
                         std::size_t blocks) const {
  return {span(place, blocks), index.span(place, blocks), cache_span(cache), index.rows_of(blocks),
          kv_.region_bytes()};
}

}  // namespace kvroof
