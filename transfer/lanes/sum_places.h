// SPDX-License-Identifier: Apache-2.0
// For each place of a lane, the checksums of a chunk's parts, as copies or ops leave them.
#pragma once
#include <cstdint>
#include <memory>

#include "backends/api/device.h"
#include "transfer/integrity/integrity.h"
#include "transfer/lanes/row_index.h"

namespace kvroof {

class SumPlaces {
 public:
  // `backed` as in BufferSpec.
  static Result<SumPlaces> create(Device& device, const StoredForm& form,
                                  std::uint32_t blocks_per_chunk, std::uint64_t places,
                                  bool backed);

  // Into the chunk's sums from the part on that its byte `at` begins.
  CopySums on_the_way(std::uint64_t place, std::uint64_t at) const;

  // Of `blocks` blocks, the chunk's from `first` on: the rows of the cache that the index names,
  // where chunks are stored as they are, or what lies in `rows`, block after block.
  Checksum of_cache(Buffer& cache, const RowIndex& index, std::uint64_t place, std::uint64_t first,
                    std::size_t blocks) const;
  Checksum of_rows(const Span& rows, std::uint64_t place, std::uint64_t first,
                   std::size_t blocks) const;

  // Once all of them have landed. 1 where they are not backed.
  std::uint64_t of_chunk(std::uint64_t place) const;

 private:
  SumPlaces(const StoredForm& form, std::uint32_t blocks_per_chunk, std::unique_ptr<Buffer> sums)
      : cache_bytes_(form.kv.cache_bytes()),
        parts_(SumParts::of(form)),
        parts_of_chunk_(blocks_per_chunk * parts_.parts_of_block()),
        sums_(std::move(sums)) {}
  Span from(std::uint64_t place, std::uint64_t part) const;
  Checksum op(const Span& source, std::uint64_t place, std::uint64_t first,
              std::size_t blocks) const;

  std::uint64_t cache_bytes_;
  SumParts parts_;
  std::uint64_t parts_of_chunk_;
  std::unique_ptr<Buffer> sums_;  // pinned, u64
};

}  // namespace kvroof
