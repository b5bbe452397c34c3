// SPDX-License-Identifier: Apache-2.0
// ARC (Megiddo and Modha, FAST 2003): chunks seen once and chunks seen again are a list each, and
// the keys that left either one say which of the two deserves more room.
#pragma once
#include "transfer/eviction/ghost_list.h"
#include "transfer/eviction/slot_list.h"

namespace kvroof {

class Arc final : public EvictionPolicy {
 public:
  explicit Arc(std::uint32_t slots) : slots_(slots), links_(slots), held_(slots) {}

  void insert(SlotId slot, const ChunkKey& key) override;
  void hit(std::span<const SlotId> slots) override;
  SlotId evict(const ChunkKey& key, const MayEvict& may) override;
  void forget(SlotId slot) override { list_of(slot).remove(slot); }
  std::uint64_t bytes() const override;

 private:
  struct Held {
    ChunkKey key;
    bool again = false;
  };

  void adapt(const ChunkKey& key);
  void trim();
  SlotList& list_of(SlotId slot) { return held_[slot].again ? again_ : once_; }

  const std::uint32_t slots_;
  double once_target_ = 0;  // of once_'s size: the paper's p
  SlotLinks links_;
  HugeVector<Held> held_;
  SlotList once_{links_}, again_{links_};  // T1, T2
  GhostList once_gone_, again_gone_;       // B1, B2
};

}  // namespace kvroof
