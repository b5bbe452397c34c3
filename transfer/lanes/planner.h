// SPDX-License-Identifier: Apache-2.0
// From a chunk's device blocks to the regions that move it. In the host tier a chunk is its blocks
// one after the other, the regions of a block in index order, whatever the device's layout.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "backends/api/queue.h"
#include "kernels/model/kv_layout.h"

namespace kvroof {

using BlockId = std::uint32_t;

// Of each block's regions: the first that is meant, and how many.
struct RegionIndices {
  std::uint32_t first = 0, count = 0;
};

class Planner {
 public:
  Planner(const KvLayout& kv, Buffer& cache) : kv_(kv), cache_(&cache) {}

  // Regions of `blocks` to or from `chunk` (their block_bytes, in order), written over `regions`.
  // Neighbours that are contiguous on both sides are one region.
  void plan_offload(std::span<const BlockId> blocks, Span chunk,
                    std::vector<Region>& regions) const;
  void plan_load(std::span<const BlockId> blocks, Span chunk, std::vector<Region>& regions) const;

  // Of one layer alone, of a layout whose layers lie apart.
  void plan_load_of_layer(std::uint32_t layer, std::span<const BlockId> blocks, Span chunk,
                          std::vector<Region>& regions) const;

 private:
  void plan_load(RegionIndices of_block, std::span<const BlockId> blocks, Span chunk,
                 std::vector<Region>& regions) const;

  KvLayout kv_;
  Buffer* cache_;
};

}  // namespace kvroof
