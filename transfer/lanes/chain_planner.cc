// SPDX-License-Identifier: Apache-2.0
#include "transfer/lanes/chain_planner.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>

namespace kvroof {

ChainPlanner::ChainPlanner(Direction direction, const StoredForm& form, Buffer& cache,
                           const DeviceInfo& info, CopyPlaces places)
    : direction_(direction),
      planner_(form.kv, cache),
      cache_(&cache),
      block_bytes_(form.block_bytes()),
      max_regions_(info.max_regions == 0 ? std::numeric_limits<std::uint64_t>::max()
                                         : info.max_regions),
      copies_sum_(info.sums_copies),
      places_(std::move(places)) {}

// An op of a copy that is begun may be reading the rows already.
std::span<const CopyStep> ChainPlanner::plan(const Lane& lane, const ChunkCopy& copy,
                                             const CopyEnds& ends) {
  steps_.clear();
  const bool staged = copy.path == CopyPath::staged;
  const Chain chain{copy, ends, lane.next_place()};
  if ((staged || (copy.summed && !copies_sum_)) && !lane.next_is_begun()) {
    places_.index->set(chain.place, ends.blocks);
  }
  staged ? plan_staged(chain) : plan_plain(chain);
  if (copy.summed) sum_rest(chain);
  return steps_;
}

Span ChainPlanner::moved(const CopyEnds& ends) const {
  return {ends.chunk.buffer, ends.chunk.offset + ends.skipped * block_bytes_,
          ends.blocks.size() * block_bytes_};
}

// In parts of at most max_regions.
void ChainPlanner::plan_plain(const Chain& chain) {
  const auto blocks = chain.ends.blocks;
  const Span chunk = moved(chain.ends);
  if (direction_ == Direction::offload) {
    planner_.plan_offload(blocks, chunk, regions_);
  } else if (chain.copy.layer == kAllLayers) {
    planner_.plan_load(blocks, chunk, regions_);
  } else {
    planner_.plan_load_of_layer(chain.copy.layer, blocks, chunk, regions_);
  }
  const auto method = static_cast<CopyMethod>(chain.copy.path);
  std::uint64_t at = 0;
  for (auto rest = std::span<const Region>(regions_); !rest.empty();) {
    const auto part = rest.first(std::min<std::uint64_t>(rest.size(), max_regions_));
    const CopySums sums = sums_on_the_way(chain, at);
    steps_.push_back({.body = Regions{.list = part, .method = method, .sums = sums}});
    for (const Region& region : part) at += region.source.bytes;
    rest = rest.subspan(part.size());
  }
  sum_by_op(chain);
}

// What is summed by an op is summed while it is staged.
void ChainPlanner::plan_staged(const Chain& chain) {
  assert(places_.staging && places_.index);
  const std::size_t blocks = chain.ends.blocks.size();
  const Span staged = places_.staging->span(chain.place, blocks), chunk = moved(chain.ends);
  regions_.clear();
  const bool offload = direction_ == Direction::offload;
  regions_.push_back(offload ? Region{staged, chunk} : Region{chunk, staged});
  const CopyStep copy{.touches_cache = false,
                      .body = Regions{.list = regions_, .sums = sums_on_the_way(chain, 0)}};
  const RowIndex& index = *places_.index;
  const bool converts = places_.staging->converts();
  if (offload) {
    add_op(places_.staging->fill(*cache_, index, chain.place, blocks), true, converts);
    sum_by_op(chain);
    steps_.push_back(copy);
  } else {
    steps_.push_back(copy);
    sum_by_op(chain);
    add_op(places_.staging->empty(*cache_, index, chain.place, blocks), true, converts);
  }
}

// None where the copy is not summed, or the device can't as it copies.
CopySums ChainPlanner::sums_on_the_way(const Chain& chain, std::uint64_t at) const {
  if (!chain.copy.summed || !copies_sum_) return {};
  return places_.sums->on_the_way(chain.place, chain.ends.skipped * block_bytes_ + at);
}

void ChainPlanner::sum_by_op(const Chain& chain) {
  if (!chain.copy.summed || copies_sum_) return;
  const std::size_t blocks = chain.ends.blocks.size();
  if (chain.copy.path == CopyPath::staged) {
    add_op(places_.sums->of_rows(places_.staging->span(chain.place, blocks), chain.place,
                                 chain.ends.skipped, blocks),
           false);
  } else {
    add_op(places_.sums->of_cache(*cache_, *places_.index, chain.place, chain.ends.skipped, blocks),
           true);
  }
}

// What a load leaves out of a chunk is summed where it lies, since the chunk has one sum.
void ChainPlanner::sum_rest(const Chain& chain) {
  const auto& [blocks, chunk, skipped] = chain.ends;
  const std::uint64_t all = chunk.bytes / block_bytes_, end = skipped + blocks.size();
  for (const auto& [first, count] :
       {std::pair{std::uint64_t{0}, std::uint64_t{skipped}}, std::pair{end, all - end}}) {
    if (count == 0) continue;
    const Span rows{chunk.buffer, chunk.offset + first * block_bytes_, count * block_bytes_};
    add_op(places_.sums->of_rows(rows, chain.place, first, count), false);
  }
}

void ChainPlanner::add_op(const Op& op, bool touches_cache, bool converts) {
  steps_.push_back(
      {.station = Station::ops, .touches_cache = touches_cache, .converts = converts, .body = op});
}

}  // namespace kvroof
