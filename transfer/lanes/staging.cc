// SPDX-License-Identifier: Apache-2.0
#include "transfer/lanes/staging.h"

namespace kvroof {

std::uint64_t Staging::bytes_of_place(const StoredForm& form, std::uint32_t blocks_per_chunk) {
  return blocks_per_chunk * form.block_bytes();
}

Result<Staging> Staging::create(Device& device, const StoredForm& form,
                                std::uint32_t blocks_per_chunk, std::uint64_t places, bool backed) {
  auto chunks = device.allocate({.kind = MemoryKind::device,
                                 .bytes = places * bytes_of_place(form, blocks_per_chunk),
                                 .backed = backed});
  if (!chunks.ok()) return chunks.status();
  return Staging(form, blocks_per_chunk, std::move(*chunks));
}

Span Staging::span(std::uint64_t place, std::size_t blocks) const {
  return {chunks_.get(), place * bytes_of_place(form_, blocks_per_chunk_),
          blocks * form_.block_bytes()};
}

Op Staging::fill(Buffer& cache, const RowIndex& index, std::uint64_t place,
                 std::size_t blocks) const {
  const std::uint32_t rows = index.rows_of(blocks);
  const Span from = cache_span(cache), named = index.span(place, blocks);
  const Span to = span(place, blocks);
  if (form_.narrow) return Quantise{from, named, to, rows, form_.row()};
  return Gather{from, named, to, rows, form_.region_bytes()};
}

Op Staging::empty(Buffer& cache, const RowIndex& index, std::uint64_t place,
                  std::size_t blocks) const {
  const std::uint32_t rows = index.rows_of(blocks);
  const Span from = span(place, blocks), named = index.span(place, blocks);
  const Span to = cache_span(cache);
  if (form_.narrow) return Dequantise{from, named, to, rows, form_.row()};
  return Scatter{from, named, to, rows, form_.region_bytes()};
}

}  // namespace kvroof
