// SPDX-License-Identifier: Apache-2.0
// The places on the device that staged copies pass: in each, a chunk's bytes in the order that the
// host tier keeps them in, and the rows of the cache that they come from or go to.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "backends/api/device.h"
#include "kernels/model/kv_layout.h"
#include "transfer/lanes/planner.h"

namespace kvroof {

class Staging {
 public:
  // Of device memory that create() takes for one place.
  static std::uint64_t bytes_of_place(const KvLayout& kv, std::uint32_t blocks_per_chunk);

  // `invalid`: the cache has more rows than an index can name. `backed` as in BufferSpec.
  static Result<Staging> create(Device& device, const KvLayout& kv, std::uint32_t blocks_per_chunk,
                                std::uint64_t places, bool backed);

  // Writes down which rows of the cache `blocks` are. No open op may read the place's old rows.
  void set_rows(std::uint64_t place, std::span<const BlockId> blocks);

  // Between the cache and the place, by the rows of `blocks` blocks that were set.
  Gather gather(Buffer& cache, std::uint64_t place, std::size_t blocks) const;
  Scatter scatter(Buffer& cache, std::uint64_t place, std::size_t blocks) const;

  // The place's bytes of so many blocks.
  Span span(std::uint64_t place, std::size_t blocks) const;

 private:
  Staging(const KvLayout& kv, std::uint32_t blocks_per_chunk, std::unique_ptr<Buffer> chunks,
          std::unique_ptr<Buffer> rows);
  std::uint32_t rows_of(std::size_t blocks) const;
  Span cache_span(Buffer& cache) const { return {&cache, 0, kv_.cache_bytes()}; }
  Span row_span(std::uint64_t place, std::size_t blocks) const;

  KvLayout kv_;
  std::uint32_t blocks_per_chunk_;
  std::unique_ptr<Buffer> chunks_, rows_;  // device; pinned, i32
};

}  // namespace kvroof
