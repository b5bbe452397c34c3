// SPDX-License-Identifier: Apache-2.0
// The least recently used chunk goes.
#pragma once
#include "transfer/eviction/slot_list.h"

namespace kvroof {

class Lru final : public EvictionPolicy {
 public:
  explicit Lru(std::uint32_t slots) : links_(slots) {}

  void insert(SlotId slot, const ChunkKey&) override { used_.push_newest(slot); }

  void hit(std::span<const SlotId> slots) override {
    move_each(links_, slots, [this](SlotId slot) {
      used_.remove(slot);
      used_.push_newest(slot);
    });
  }

  SlotId evict(const ChunkKey&, const MayEvict& may) override {
    const SlotId victim = used_.oldest_of(may);
    if (victim != kNoSlot) used_.remove(victim);
    return victim;
  }

  void forget(SlotId slot) override { used_.remove(slot); }
  std::uint64_t bytes() const override { return links_.capacity() * sizeof(SlotLink); }

 private:
  SlotLinks links_;
  SlotList used_{links_};
};

}  // namespace kvroof
