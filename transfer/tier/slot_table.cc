// SPDX-License-Identifier: Apache-2.0
#include "transfer/tier/slot_table.h"

#include <algorithm>
#include <bit>
#include <cassert>

namespace kvroof {
namespace {

constexpr std::size_t kAhead = 16;  // keys: about as many reads as a core keeps on their way

std::uint32_t tag_of(const ChunkKey& key) { return static_cast<std::uint32_t>(key.low); }

}  // namespace

SlotTable::SlotTable(std::uint32_t slots)
    : slots_(slots),
      entries_(std::bit_ceil(std::size_t{slots} * 2 + 1)),
      mask_(entries_.size() - 1) {
  assert(slots <= kMostSlots);
}

std::size_t SlotTable::position_of(const ChunkKey& key) const {
  const std::uint32_t tag = tag_of(key);
  std::size_t at = home_of(tag);
  while (entries_[at].slot != kNoSlot &&
         (entries_[at].tag != tag || slots_[entries_[at].slot].key != key)) {
    at = (at + 1) & mask_;
  }
  return at;
}

SlotId SlotTable::find(const ChunkKey& key) const { return entries_[position_of(key)].slot; }

void SlotTable::prefetch_entries(std::span<const ChunkKey> keys) const {
  for (const ChunkKey& key : keys) __builtin_prefetch(&entries_[home_of(tag_of(key))]);
}

// Of the first entry that may be the key's.
void SlotTable::prefetch_slots(std::span<const ChunkKey> keys) const {
  for (const ChunkKey& key : keys) {
    const std::uint32_t tag = tag_of(key);
    std::size_t at = home_of(tag);
    while (entries_[at].slot != kNoSlot && entries_[at].tag != tag) at = (at + 1) & mask_;
    if (entries_[at].slot != kNoSlot) __builtin_prefetch(&slots_[entries_[at].slot]);
  }
}

void SlotTable::find(std::span<const ChunkKey> keys, std::span<SlotId> found) const {
  const auto group = [keys](std::size_t at) {
    return at < keys.size() ? keys.subspan(at, std::min(kAhead, keys.size() - at))
                            : std::span<const ChunkKey>();
  };
  prefetch_entries(group(0));
  for (std::size_t at = 0; at < keys.size(); at += kAhead) {
    prefetch_entries(group(at + kAhead));
    prefetch_slots(group(at));
    for (std::size_t i = at; i < std::min(at + kAhead, keys.size()); ++i) found[i] = find(keys[i]);
  }
}

void SlotTable::insert(const ChunkKey& key, SlotId slot) {
  slots_[slot].key = key;
  entries_[position_of(key)] = {slot, tag_of(key)};
}

// Closes the gap: each later entry of the run moves up unless that would put it before its own
// position. So no tombstones pile up under constant eviction.
void SlotTable::erase(SlotId slot) {
  std::size_t gap = position_of(slots_[slot].key);
  assert(entries_[gap].slot == slot);
  for (std::size_t at = (gap + 1) & mask_; entries_[at].slot != kNoSlot; at = (at + 1) & mask_) {
    const std::size_t home = home_of(entries_[at].tag);
    if (((at - home) & mask_) < ((at - gap) & mask_)) continue;
    entries_[gap] = entries_[at];
    gap = at;
  }
  entries_[gap] = {};
}

std::uint64_t SlotTable::bytes() const {
  return slots_.capacity() * sizeof(Slot) + entries_.capacity() * sizeof(Entry);
}

}  // namespace kvroof
