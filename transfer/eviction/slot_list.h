// SPDX-License-Identifier: Apache-2.0
// Lists of slots, newest first, over one array of links: a slot is on one list at most.
#pragma once
#include <vector>

#include "transfer/eviction/policy.h"

namespace kvroof {

struct SlotLink {
  SlotId older = kNoSlot, newer = kNoSlot;
};

class SlotList {
 public:
  explicit SlotList(std::vector<SlotLink>& links) : links_(links) {}

  void push_newest(SlotId slot) {
    links_[slot] = {newest_, kNoSlot};
    (newest_ == kNoSlot ? oldest_ : links_[newest_].newer) = slot;
    newest_ = slot;
    ++size_;
  }

  void remove(SlotId slot) {
    const SlotLink link = links_[slot];
    (link.older == kNoSlot ? oldest_ : links_[link.older].newer) = link.newer;
    (link.newer == kNoSlot ? newest_ : links_[link.newer].older) = link.older;
    --size_;
  }

  SlotId oldest() const { return oldest_; }
  SlotId newer_than(SlotId slot) const { return links_[slot].newer; }
  std::uint32_t size() const { return size_; }

  // The oldest that `may` names; kNoSlot where there is none. It stays.
  SlotId oldest_of(const MayEvict& may) const {
    SlotId slot = oldest_;
    while (slot != kNoSlot && !may(slot)) slot = links_[slot].newer;
    return slot;
  }

 private:
  std::vector<SlotLink>& links_;
  SlotId newest_ = kNoSlot, oldest_ = kNoSlot;
  std::uint32_t size_ = 0;
};

}  // namespace kvroof
