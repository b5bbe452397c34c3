// SPDX-License-Identifier: Apache-2.0
// The tier's slots with what is known of each, found by key: a hash table with open addressing and
// linear probing. Keys are uniform hashes already, so their low bits are the position. It never
// grows.
#pragma once
#include <cstdint>
#include <span>

#include "transfer/keys/chunk_key.h"
#include "transfer/tier/huge_pages.h"
#include "transfer/tier/slot_id.h"

namespace kvroof {

// free -> reserved (being written) -> visible -> dropped (until nobody references it) -> free.
enum class SlotState : std::uint8_t { free, reserved, visible, dropped };

struct Slot {
  ChunkKey key;
  std::uint32_t references = 0;
  SlotId next_free = kNoSlot;
  SlotState state = SlotState::free;
  bool in_policy = false;     // from its first release on
  bool is_protected = false;  // which is one of its references
};

class SlotTable {
 public:
  static constexpr std::uint32_t kMostSlots = (1u << 31) - 1;  // positions are 32 bits wide

  explicit SlotTable(std::uint32_t slots);

  Slot& operator[](SlotId slot) { return slots_[slot]; }
  const Slot& operator[](SlotId slot) const { return slots_[slot]; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(slots_.size()); }

  SlotId find(const ChunkKey& key) const;  // kNoSlot where it isn't

  // The same of many, the slots' records on their way while others are looked up. As many of both.
  void find(std::span<const ChunkKey> keys, std::span<SlotId> found) const;

  void insert(const ChunkKey& key, SlotId slot);  // no slot has the key, and this one has none
  void erase(SlotId slot);                        // a slot whose key was inserted

  std::uint64_t bytes() const;  // of memory

 private:
  struct Entry {
    SlotId slot = kNoSlot;
    std::uint32_t tag = 0;  // the key's low bits: its position, and most other keys told apart
  };

  std::size_t home_of(std::uint32_t tag) const { return tag & mask_; }
  // The key's entry, or the empty one it'd take.
  std::size_t position_of(const ChunkKey& key) const;
  void prefetch_entries(std::span<const ChunkKey> keys) const;
  void prefetch_slots(std::span<const ChunkKey> keys) const;

  HugeVector<Slot> slots_;
  HugeVector<Entry> entries_;  // a power of two, at most half full
  std::size_t mask_;
};

}  // namespace kvroof
