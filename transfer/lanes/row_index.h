// SPDX-License-Identifier: Apache-2.0
// For each place of a lane, which rows of the cache (its regions, by number) a chunk's blocks are:
// what ops that move or sum rows are told.
#pragma once
#include <cstdint>
#include <memory>
#include <span>

#include "backends/api/device.h"
#include "kernels/model/kv_layout.h"
#include "transfer/lanes/planner.h"

namespace kvroof {

class RowIndex {
 public:
  // `invalid`: the cache has more rows than an index can name.
  static Result<RowIndex> create(Device& device, const KvLayout& kv, std::uint32_t blocks_per_chunk,
                                 std::uint64_t places);

  // Writes down the rows of `blocks`. No open op may read the place's old ones.
  void set(std::uint64_t place, std::span<const BlockId> blocks);

  // The rows of so many blocks that were set, as i32.
  Span span(std::uint64_t place, std::size_t blocks) const;
  std::uint32_t rows_of(std::size_t blocks) const {
    return static_cast<std::uint32_t>(blocks) * kv_.regions_per_block();
  }

 private:
  RowIndex(const KvLayout& kv, std::uint32_t blocks_per_chunk, std::unique_ptr<Buffer> rows)
      : kv_(kv), blocks_per_chunk_(blocks_per_chunk), rows_(std::move(rows)) {}

  KvLayout kv_;
  std::uint32_t blocks_per_chunk_;
  std::unique_ptr<Buffer> rows_;  // pinned
};

}  // namespace kvroof
