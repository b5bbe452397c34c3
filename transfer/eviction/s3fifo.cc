// SPDX-License-Identifier: Apache-2.0
#include "transfer/eviction/s3fifo.h"

#include <algorithm>

namespace kvroof {
namespace {

constexpr std::uint8_t kMostHits = 3, kHitsToStay = 2;

}  // namespace

S3Fifo::S3Fifo(std::uint32_t slots)
    : small_slots_(std::max(1u, slots / 10)),
      main_slots_(slots - std::min(slots, small_slots_)),
      links_(slots),
      held_(slots),
      is_main_(slots) {}

void S3Fifo::insert(SlotId slot, const ChunkKey& key) {
  held_[slot] = {key, 0};
  is_main_[slot] = gone_.remove(key);
  (is_main_[slot] ? main_ : small_).push_newest(slot);
}

void S3Fifo::hit(SlotId slot) {
  held_[slot].hits = std::min<std::uint8_t>(kMostHits, held_[slot].hits + 1);
}

SlotId S3Fifo::evict(const ChunkKey&, const MayEvict& may) {
  const bool small_first = small_.size() > 0 && main_.size() <= main_slots_;
  SlotId victim = small_first ? evict_small(may) : evict_main(may);
  if (victim == kNoSlot) victim = small_first ? evict_main(may) : evict_small(may);
  return victim;
}

// Those hit twice move over with their count begun anew; the first other that may go goes.
SlotId S3Fifo::evict_small(const MayEvict& may) {
  for (SlotId slot = small_.oldest(); slot != kNoSlot;) {
    const SlotId next = small_.newer_than(slot);
    if (held_[slot].hits >= kHitsToStay) {
      small_.remove(slot);
      held_[slot].hits = 0;
      is_main_[slot] = true;
      main_.push_newest(slot);
    } else if (may(slot)) {
      small_.remove(slot);
      gone_.push_newest(held_[slot].key);
      if (gone_.size() > main_slots_) gone_.drop_oldest();
      return slot;
    }
    slot = next;
  }
  return kNoSlot;
}

// Each has its hits' rounds: at most four passes over the queue, where nothing may go.
SlotId S3Fifo::evict_main(const MayEvict& may) {
  for (std::uint64_t left = std::uint64_t{main_.size()} * (kMostHits + 1); left > 0; --left) {
    const SlotId slot = main_.oldest();
    main_.remove(slot);
    if (held_[slot].hits == 0 && may(slot)) return slot;
    if (held_[slot].hits > 0) --held_[slot].hits;
    main_.push_newest(slot);
  }
  return kNoSlot;
}

}  // namespace kvroof
