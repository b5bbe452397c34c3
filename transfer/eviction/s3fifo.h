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
  void hit(SlotId slot) override;
  SlotId evict(const ChunkKey& key, const MayEvict& may) override;

 private:
  struct Held {
    ChunkKey key;
    std::uint8_t hits = 0;  // up to three
  };

  SlotId evict_small(const MayEvict& may);
  SlotId evict_main(const MayEvict& may);

  const std::uint32_t small_slots_, main_slots_;  // a tenth, and the rest
  std::vector<SlotLink> links_;
  std::vector<Held> held_;
  SlotList small_{links_}, main_{links_};
  std::vector<bool> is_main_;
  GhostList gone_;  // from the short queue, as many as the long one has slots
};

}  // namespace kvroof
