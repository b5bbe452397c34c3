// SPDX-License-Identifier: Apache-2.0
#include "transfer/eviction/arc.h"

#include <algorithm>

namespace kvroof {

void Arc::insert(SlotId slot, const ChunkKey& key) {
  const bool again = once_gone_.remove(key) || again_gone_.remove(key);
  held_[slot] = {key, again};
  list_of(slot).push_newest(slot);
  trim();
}

void Arc::hit(std::span<const SlotId> slots) {
  for (const SlotId slot : slots) __builtin_prefetch(&held_[slot], 1);
  move_each(links_, slots, [this](SlotId slot) {
    list_of(slot).remove(slot);
    held_[slot].again = true;
    again_.push_newest(slot);
  });
}

std::uint64_t Arc::bytes() const {
  return links_.capacity() * sizeof(SlotLink) + held_.capacity() * sizeof(Held);
}

// A ghost that comes back wants its list longer, the more so the rarer such ghosts are.
void Arc::adapt(const ChunkKey& key) {
  const auto once = static_cast<double>(once_gone_.size());
  const auto again = static_cast<double>(again_gone_.size());
  if (once_gone_.contains(key)) {
    once_target_ = std::min<double>(slots_, once_target_ + std::max(1.0, again / once));
  } else if (again_gone_.contains(key)) {
    once_target_ = std::max(0.0, once_target_ - std::max(1.0, once / again));
  }
}

SlotId Arc::evict(const ChunkKey& key, const MayEvict& may) {
  adapt(key);
  const bool wants_once =
      once_.size() > 0 &&
      (once_.size() > once_target_ || (once_.size() == once_target_ && again_gone_.contains(key)));
  SlotList& first = wants_once ? once_ : again_;
  SlotList& second = wants_once ? again_ : once_;
  SlotId victim = first.oldest_of(may);
  if (victim == kNoSlot) victim = second.oldest_of(may);
  if (victim == kNoSlot) return kNoSlot;
  list_of(victim).remove(victim);
  const Held& gone = held_[victim];
  (gone.again ? again_gone_ : once_gone_).push_newest(gone.key);
  trim();
  return victim;
}

// As many chunks seen once, here or gone, as there are slots; twice as many chunks in all.
void Arc::trim() {
  while (once_gone_.size() > 0 && once_.size() + once_gone_.size() > slots_) {
    once_gone_.drop_oldest();
  }
  while (again_gone_.size() > 0 &&
         once_.size() + again_.size() + once_gone_.size() + again_gone_.size() >
             std::size_t{2} * slots_) {
    again_gone_.drop_oldest();
  }
}

}  // namespace kvroof
