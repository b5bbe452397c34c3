// SPDX-License-Identifier: Apache-2.0
#include "transfer/lanes/sum_places.h"

namespace kvroof {
namespace {

using Sum = std::uint64_t;

}  // namespace

Result<SumPlaces> SumPlaces::create(Device& device, const StoredForm& form,
                                    std::uint32_t blocks_per_chunk, std::uint64_t places,
                                    bool backed) {
  const std::uint64_t parts = places * blocks_per_chunk * SumParts::of(form).parts_of_block();
  auto sums =
      device.allocate({.kind = MemoryKind::pinned, .bytes = parts * sizeof(Sum), .backed = backed});
  if (!sums.ok()) return sums.status();
  return SumPlaces(form, blocks_per_chunk, std::move(*sums));
}

Span SumPlaces::from(std::uint64_t place, std::uint64_t part) const {
  return {sums_.get(), (place * parts_of_chunk_ + part) * sizeof(Sum),
          (parts_of_chunk_ - part) * sizeof(Sum)};
}

CopySums SumPlaces::on_the_way(std::uint64_t place, std::uint64_t at) const {
  return {from(place, at / parts_.part_bytes()), parts_.part_bytes()};
}

Checksum SumPlaces::op(const Span& source, std::uint64_t place, std::uint64_t first,
                       std::size_t blocks) const {
  return {.source = source,
          .index = {},
          .out = from(place, first * parts_.parts_of_block()),
          .rows = static_cast<std::uint32_t>(blocks) * parts_.rows_of_block,
          .row_bytes = parts_.row_bytes,
          .parts = parts_.parts_of_row};
}

Checksum SumPlaces::of_cache(Buffer& cache, const RowIndex& index, std::uint64_t place,
                             std::uint64_t first, std::size_t blocks) const {
  Checksum named = op({&cache, 0, cache_bytes_}, place, first, blocks);
  named.index = index.span(place, blocks);
  return named;
}

Checksum SumPlaces::of_rows(const Span& rows, std::uint64_t place, std::uint64_t first,
                            std::size_t blocks) const {
  return op(rows, place, first, blocks);
}

std::uint64_t SumPlaces::of_chunk(std::uint64_t place) const {
  if (!sums_->facts().backed) return 1;
  const Span span = from(place, 0);
  const auto* const sums = reinterpret_cast<const Sum*>(sums_->host().data() + span.offset);
  return sum_of_chunk({sums, parts_of_chunk_});
}

}  // namespace kvroof
