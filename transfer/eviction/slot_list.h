// SPDX-License-Identifier: Apache-2.0
// Lists of slots, newest first, over one array of links: a slot is on one list at most. Slots that
// may not go are set aside, so that nobody steps over them twice; they still count.
#pragma once
#include <algorithm>
#include <span>

#include "transfer/eviction/policy.h"
#include "transfer/tier/huge_pages.h"

namespace kvroof {

struct SlotLink {
  SlotId older = kNoSlot, newer = kNoSlot;  // both the slot itself: it is set aside
};
using SlotLinks = HugeVector<SlotLink>;

class SlotList {
 public:
  explicit SlotList(SlotLinks& links) : links_(links) {}

  void push_newest(SlotId slot) {
    link_newest(slot);
    ++size_;
  }

  void remove(SlotId slot) {
    if (!is_aside(slot)) unlink(slot);
    --size_;
  }

  // Back as the oldest, where it was set aside.
  void put_back(SlotId slot) {
    if (!is_aside(slot)) return;
    links_[slot] = {kNoSlot, oldest_};
    (oldest_ == kNoSlot ? newest_ : links_[oldest_].older) = slot;
    oldest_ = slot;
  }

  void set_aside(SlotId slot) {
    unlink(slot);
    links_[slot] = {slot, slot};
  }

  SlotId oldest() const { return oldest_; }     // of those not set aside; else kNoSlot
  std::uint32_t size() const { return size_; }  // with those set aside

  // The oldest that `may` names; kNoSlot where there is none. It stays, and older ones are set
  // aside.
  SlotId oldest_of(const MayEvict& may) {
    while (oldest_ != kNoSlot && !may(oldest_)) set_aside(oldest_);
    return oldest_;
  }

 private:
  bool is_aside(SlotId slot) const { return links_[slot].newer == slot; }

  void link_newest(SlotId slot) {
    links_[slot] = {newest_, kNoSlot};
    (newest_ == kNoSlot ? oldest_ : links_[newest_].newer) = slot;
    newest_ = slot;
  }

  void unlink(SlotId slot) {
    const SlotLink link = links_[slot];
    (link.older == kNoSlot ? oldest_ : links_[link.older].newer) = link.newer;
    (link.newer == kNoSlot ? newest_ : links_[link.newer].older) = link.older;
  }

  SlotLinks& links_;
  SlotId newest_ = kNoSlot, oldest_ = kNoSlot;
  std::uint32_t size_ = 0;
};

// Calls `move` for each slot, its link and those of its neighbours having been fetched before.
template <class Move>
void move_each(const SlotLinks& links, std::span<const SlotId> slots, Move move) {
  constexpr std::size_t kAhead = 16;
  for (; !slots.empty(); slots = slots.subspan(std::min(kAhead, slots.size()))) {
    const auto group = slots.first(std::min(kAhead, slots.size()));
    for (const SlotId slot : group) __builtin_prefetch(&links[slot], 1);
    for (const SlotId slot : group) {
      const SlotLink link = links[slot];
      if (link.older != kNoSlot) __builtin_prefetch(&links[link.older], 1);
      if (link.newer != kNoSlot) __builtin_prefetch(&links[link.newer], 1);
    }
    for (const SlotId slot : group) move(slot);
  }
}

}  // namespace kvroof
