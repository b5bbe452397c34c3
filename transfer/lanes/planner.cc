// SPDX-License-Identifier: Apache-2.0
#include "transfer/lanes/planner.h"

namespace kvroof {
namespace {

// Calls emit(device offset, chunk offset, bytes) for each region. The chunk side is contiguous
// from one region to the next by definition, so only the device side decides what is coalesced.
template <class Emit>
void for_each_region(const KvLayout& kv, std::span<const BlockId> blocks, Emit emit) {
  const std::uint64_t bytes = kv.region_bytes();
  const std::uint32_t per_block = kv.regions_per_block();
  std::uint64_t device = 0, chunk = 0, run = 0;  // the run that is being gathered
  for (const BlockId block : blocks) {
    for (std::uint32_t index = 0; index < per_block; ++index) {
      const std::uint64_t at = kv.region_offset(block, index);
      if (run > 0 && device + run != at) {
        emit(device, chunk, run);
        chunk += run;
        run = 0;
      }
      if (run == 0) device = at;
      run += bytes;
    }
  }
  if (run > 0) emit(device, chunk, run);
}

}  // namespace

void Planner::plan_offload(std::span<const BlockId> blocks, Span chunk,
                           std::vector<Region>& regions) const {
  regions.clear();
  for_each_region(kv_, blocks, [&](std::uint64_t device, std::uint64_t host, std::uint64_t bytes) {
    regions.push_back({{cache_, device, bytes}, {chunk.buffer, chunk.offset + host, bytes}});
  });
}

void Planner::plan_load(std::span<const BlockId> blocks, Span chunk,
                        std::vector<Region>& regions) const {
  regions.clear();
  for_each_region(kv_, blocks, [&](std::uint64_t device, std::uint64_t host, std::uint64_t bytes) {
    regions.push_back({{chunk.buffer, chunk.offset + host, bytes}, {cache_, device, bytes}});
  });
}

}  // namespace kvroof
