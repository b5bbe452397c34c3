// SPDX-License-Identifier: Apache-2.0
// From a chunk copy to the steps that move it, by its path and its lane's direction.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "transfer/lanes/chunk_copy.h"
#include "transfer/lanes/lane.h"
#include "transfer/lanes/planner.h"
#include "transfer/lanes/staging.h"

namespace kvroof {

class ChainPlanner {
 public:
  // `max_regions` as in DeviceInfo. `staging` is needed for path `staged`.
  ChainPlanner(Direction direction, const KvLayout& kv, Buffer& cache, std::uint64_t max_regions,
               std::optional<Staging> staging);

  // Of the lane's next copy, between `blocks` and `chunk` (their bytes in the host tier). The steps
  // hold until the next call; until the copy is submitted whole, each call gives the same ones.
  std::span<const CopyStep> plan(const Lane& lane, const ChunkCopy& copy,
                                 std::span<const BlockId> blocks, Span chunk);

 private:
  void plan_plain(const ChunkCopy& copy, std::span<const BlockId> blocks, Span chunk);
  void plan_staged(std::uint64_t place, std::size_t blocks, Span chunk);

  Direction direction_;
  Planner planner_;
  Buffer* cache_;
  std::uint64_t max_regions_;
  std::optional<Staging> staging_;
  std::vector<Region> regions_;  // what steps_ point to
  std::vector<CopyStep> steps_;
};

}  // namespace kvroof
