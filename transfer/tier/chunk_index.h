// SPDX-License-Identifier: Apache-2.0
// A hash table from chunk key to slot, open addressing with linear probing. Keys are uniform hashes
// already, so their low bits are the position. It never grows: the tier's slots bound it.
#pragma once
#include <cstdint>
#include <vector>

#include "transfer/keys/chunk_key.h"

namespace kvroof {

using SlotId = std::uint32_t;
inline constexpr SlotId kNoSlot = ~SlotId{0};

class ChunkIndex {
 public:
  explicit ChunkIndex(std::uint32_t max_entries);

  SlotId find(const ChunkKey& key) const;         // kNoSlot where it isn't
  void insert(const ChunkKey& key, SlotId slot);  // the key isn't in it, and there is room
  void erase(const ChunkKey& key);                // the key is in it

 private:
  struct Entry {
    ChunkKey key;
    SlotId slot = kNoSlot;
  };

  std::size_t position_of(
      const ChunkKey& key) const;  // the key's entry, or the empty one it'd take

  std::vector<Entry> entries_;  // a power of two, at most half full
  std::size_t mask_;
};

}  // namespace kvroof
