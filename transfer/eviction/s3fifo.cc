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
      held_(slots) {}

void S3Fifo::insert(SlotId slot, const ChunkKey& key) {
  held_[slot] = {.key = key, .is_main = gone_.remove(key)};
  list_of(slot).push_newest(slot);
}

// One that was passed over while it could not go is the next to be looked at again.
void S3Fifo::hit(std::span<const SlotId> slots) {
  for (const SlotId slot : slots) __builtin_prefetch(&held_[slot], 1);
  for (const SlotId slot : slots) __builtin_prefetch(&links_[slot]);
  for (const SlotId slot : slots) {
    held_[slot].hits = std::min<std::uint8_t>(kMostHits, held_[slot].hits + 1);
    list_of(slot).put_back(slot);
  }
}

SlotId S3Fifo::evict(const ChunkKey&, const MayEvict& may) {
  const bool small_first = small_.size() > 0 && main_.size() <= main_slots_;
  SlotId victim = small_first ? evict_small(may) : evict_main(may);
  if (victim == kNoSlot) victim = small_first ? evict_main(may) : evict_small(may);
  return victim;
}

// Those hit twice move over with their count begun anew; the first other that may go goes.
SlotId S3Fifo::evict_small(const MayEvict& may) {
  for (SlotId slot; (slot = small_.oldest()) != kNoSlot;) {
    if (held_[slot].hits >= kHitsToStay) {
      small_.remove(slot);
      held_[slot].hits = 0;
      held_[slot].is_main = true;
      main_.push_newest(slot);
    } else if (may(slot)) {
      small_.remove(slot);
      gone_.push_newest(held_[slot].key);
      if (gone_.size() > main_slots_) gone_.drop_oldest();
      return slot;
    } else {
      small_.set_aside(slot);
    }
  }
  return kNoSlot;
}

// Each has its hits' rounds: at most four passes over the queue.
SlotId S3Fifo::evict_main(const MayEvict& may) {
  for (SlotId slot; (slot = main_.oldest()) != kNoSlot;) {
    if (held_[slot].hits == 0 && !may(slot)) {
      main_.set_aside(slot);
      continue;
    }
    main_.remove(slot);
    if (held_[slot].hits == 0) return slot;
    --held_[slot].hits;
    main_.push_newest(slot);
  }
  return kNoSlot;
}

std::uint64_t S3Fifo::bytes() const {
  return links_.capacity() * sizeof(SlotLink) + held_.capacity() * sizeof(Held);
}

}  // namespace kvroof
