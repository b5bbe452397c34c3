// SPDX-License-Identifier: Apache-2.0
#include "transfer/tier/chunk_index.h"

#include <bit>

namespace kvroof {

ChunkIndex::ChunkIndex(std::uint32_t max_entries)
    : entries_(std::bit_ceil(std::size_t{max_entries} * 2 + 1)), mask_(entries_.size() - 1) {}

std::size_t ChunkIndex::position_of(const ChunkKey& key) const {
  std::size_t at = key.low & mask_;
  while (entries_[at].slot != kNoSlot && entries_[at].key != key) at = (at + 1) & mask_;
  return at;
}

SlotId ChunkIndex::find(const ChunkKey& key) const { return entries_[position_of(key)].slot; }

void ChunkIndex::insert(const ChunkKey& key, SlotId slot) {
  entries_[position_of(key)] = {key, slot};
}

// Closes the gap: each later entry of the run moves up unless that would put it before its own
// position. So no tombstones pile up under constant eviction.
void ChunkIndex::erase(const ChunkKey& key) {
  std::size_t gap = position_of(key);
  for (std::size_t at = (gap + 1) & mask_; entries_[at].slot != kNoSlot; at = (at + 1) & mask_) {
    const std::size_t home = entries_[at].key.low & mask_;
    if (((at - home) & mask_) < ((at - gap) & mask_)) continue;
    entries_[gap] = entries_[at];
    gap = at;
  }
  entries_[gap] = {};
}

}  // namespace kvroof
