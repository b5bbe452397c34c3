// SPDX-License-Identifier: Apache-2.0
// S3-FIFO (Yang et al., SOSP 2023): most chunks are seen once and leave by a short queue; those
// seen again go to a long one, where each hit, up to three, is one more round.
#pragma once
#include "transfer/eviction/ghost_list.h"
#include "transfer/eviction/slot_list.h"

namespace kvroof {

class S3Fifo final : public EvictionPolicy {
 public:
  explicit S3Fifo(std::uint32_t slots);

  void insert(SlotId slot, const ChunkKey& key) override;
  void hit(std::span<const SlotId> slots) override;
  SlotId evict(const ChunkKey& key, const MayEvict& may) override;
  void forget(SlotId slot) override { list_of(slot).remove(slot); }
  std::uint64_t bytes() const override;

 private:
  struct Held {
    ChunkKey key;
    std::uint8_t hits = 0;  // up to three
    bool is_main = false;
  };

  SlotList& list_of(SlotId slot) { return held_[slot].is_main ? main_ : small_; }
  SlotId evict_small(const MayEvict& may);
  SlotId evict_main(const MayEvict& may);

  const std::uint32_t small_slots_, main_slots_;  // a tenth, and the rest
  SlotLinks links_;
  HugeVector<Held> held_;
  SlotList small_{links_}, main_{links_};
  GhostList gone_;  // from the short queue, as many as the long one has slots
};

}  // namespace kvroof
