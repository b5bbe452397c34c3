// SPDX-License-Identifier: Apache-2.0
#include "transfer/lanes/planner.h"

namespace kvroof {
namespace {

// Calls emit(device offset, chunk offset, bytes) for each region.
template <class Emit>
void for_each_region(const KvLayout& kv, std::span<const BlockId> blocks, RegionIndices of_block,
                     Emit emit) {
  const std::uint64_t bytes = kv.region_bytes(), block_bytes = kv.block_bytes();
  std::uint64_t device = 0, chunk = 0, run = 0;  // the run that is being gathered
  std::uint64_t in_chunk = of_block.first * bytes;
  for (const BlockId block : blocks) {
    for (std::uint32_t i = 0; i < of_block.count; ++i) {
      const std::uint64_t at = kv.region_offset(block, of_block.first + i);
      const std::uint64_t held = in_chunk + i * bytes;
      if (run > 0 && (device + run != at || chunk + run != held)) {
        emit(device, chunk, run);
        run = 0;
      }
      if (run == 0) {
        device = at;
        chunk = held;
      }
      run += bytes;
    }
    in_chunk += block_bytes;
  }
  if (run > 0) emit(device, chunk, run);
}

RegionIndices all_regions(const KvLayout& kv) { return {0, kv.regions_per_block()}; }

}  // namespace

void Planner::plan_offload(std::span<const BlockId> blocks, Span chunk,
                           std::vector<Region>& regions) const {
  regions.clear();
  for_each_region(
      kv_, blocks, all_regions(kv_),
      [&](std::uint64_t device, std::uint64_t host, std::uint64_t bytes) {
        regions.push_back({{cache_, device, bytes}, {chunk.buffer, chunk.offset + host, bytes}});
      });
}

void Planner::plan_load(std::span<const BlockId> blocks, Span chunk,
                        std::vector<Region>& regions) const {
  plan_load(all_regions(kv_), blocks, chunk, regions);
}

void Planner::plan_load_of_layer(std::uint32_t layer, std::span<const BlockId> blocks, Span chunk,
                                 std::vector<Region>& regions) const {
  const std::uint32_t count = kv_.regions_per_layer();
  plan_load({layer * count, count}, blocks, chunk, regions);
}

void Planner::plan_load(RegionIndices of_block, std::span<const BlockId> blocks, Span chunk,
                        std::vector<Region>& regions) const {
  regions.clear();
  for_each_region(
      kv_, blocks, of_block, [&](std::uint64_t device, std::uint64_t host, std::uint64_t bytes) {
        regions.push_back({{chunk.buffer, chunk.offset + host, bytes}, {cache_, device, bytes}});
      });
}

}  // namespace kvroof
