// SPDX-License-Identifier: Apache-2.0
// From a chunk copy to the steps that move it, by its path and its lane's direction, and that sum
// it.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "transfer/lanes/chunk_copy.h"
#include "transfer/lanes/lane.h"
#include "transfer/lanes/planner.h"
#include "transfer/lanes/row_index.h"
#include "transfer/lanes/staging.h"
#include "transfer/lanes/sum_places.h"

namespace kvroof {

// What copies need besides the cache and the tier, a place for each that may be open.
struct CopyPlaces {
  std::optional<RowIndex> index;   // where ops are told rows
  std::optional<Staging> staging;  // for path `staged`
  std::optional<SumPlaces> sums;   // where copies are summed
};

// The two ends of a copy: device blocks, and the chunk (all of it, in the host tier) of which they
// are those behind `skipped` others.
struct CopyEnds {
  std::span<const BlockId> blocks;
  Span chunk;
  std::uint32_t skipped = 0;
};

class ChainPlanner {
 public:
  // `info` is the cache's device's.
  ChainPlanner(Direction direction, const StoredForm& form, Buffer& cache, const DeviceInfo& info,
               CopyPlaces places);

  // Of the lane's next copy. The steps hold until the next call; until the copy is submitted whole,
  // each call gives the same ones.
  std::span<const CopyStep> plan(const Lane& lane, const ChunkCopy& copy, const CopyEnds& ends);

  // Of a copy that was summed and has landed, whose place no other has taken since.
  std::uint64_t sum(std::uint64_t place) const { return places_.sums->of_chunk(place); }

 private:
  // Of the copy that is planned.
  struct Chain {
    const ChunkCopy& copy;
    const CopyEnds& ends;
    std::uint64_t place;
  };

  Span moved(const CopyEnds& ends) const;
  void plan_plain(const Chain& chain);
  void plan_staged(const Chain& chain);
  CopySums sums_on_the_way(const Chain& chain, std::uint64_t at) const;
  void sum_by_op(const Chain& chain);
  void sum_rest(const Chain& chain);
  void add_op(const Op& op, bool touches_cache, bool converts = false);

  Direction direction_;
  Planner planner_;
  Buffer* cache_;
  std::uint64_t block_bytes_, max_regions_;
  bool copies_sum_;
  CopyPlaces places_;
  std::vector<Region> regions_;  // what steps_ point to
  std::vector<CopyStep> steps_;
};

}  // namespace kvroof
