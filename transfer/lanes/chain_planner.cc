// SPDX-License-Identifier: Apache-2.0
#include "transfer/lanes/chain_planner.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>

namespace kvroof {

ChainPlanner::ChainPlanner(Direction direction, const KvLayout& kv, Buffer& cache,
                           std::uint64_t max_regions, std::optional<Staging> staging)
    : direction_(direction),
      planner_(kv, cache),
      cache_(&cache),
      max_regions_(max_regions == 0 ? std::numeric_limits<std::uint64_t>::max() : max_regions),
      staging_(std::move(staging)) {}

// An op of a copy that is begun may be reading the rows already.
std::span<const CopyStep> ChainPlanner::plan(const Lane& lane, const ChunkCopy& copy,
                                             std::span<const BlockId> blocks, Span chunk) {
  steps_.clear();
  if (copy.path != CopyPath::staged) {
    plan_plain(copy, blocks, chunk);
    return steps_;
  }
  assert(staging_);
  const std::uint64_t place = lane.next_place();
  if (!lane.next_is_begun()) staging_->set_rows(place, blocks);
  plan_staged(place, blocks.size(), chunk);
  return steps_;
}

// In parts of at most max_regions.
void ChainPlanner::plan_plain(const ChunkCopy& copy, std::span<const BlockId> blocks, Span chunk) {
  if (direction_ == Direction::offload) {
    planner_.plan_offload(blocks, chunk, regions_);
  } else if (copy.layer == kAllLayers) {
    planner_.plan_load(blocks, chunk, regions_);
  } else {
    planner_.plan_load_of_layer(copy.layer, blocks, chunk, regions_);
  }
  const auto method = static_cast<CopyMethod>(copy.path);
  for (auto rest = std::span<const Region>(regions_); !rest.empty();) {
    const auto part = rest.first(std::min<std::uint64_t>(rest.size(), max_regions_));
    steps_.push_back({.body = Regions{.list = part, .method = method}});
    rest = rest.subspan(part.size());
  }
}

void ChainPlanner::plan_staged(std::uint64_t place, std::size_t blocks, Span chunk) {
  const Span staged = staging_->span(place, blocks);
  chunk.bytes = staged.bytes;
  regions_.clear();
  const bool offload = direction_ == Direction::offload;
  regions_.push_back(offload ? Region{staged, chunk} : Region{chunk, staged});
  const Op moved = offload ? Op(staging_->gather(*cache_, place, blocks))
                           : Op(staging_->scatter(*cache_, place, blocks));
  const CopyStep by_op{.station = Station::ops, .body = moved};
  const CopyStep by_copy{.touches_cache = false, .body = Regions{.list = regions_}};
  steps_.push_back(offload ? by_op : by_copy);
  steps_.push_back(offload ? by_copy : by_op);
}

}  // namespace kvroof
