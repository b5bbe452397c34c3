// SPDX-License-Identifier: Apache-2.0
#include "transfer/tier/host_tier.h"

#include <algorithm>
#include <cassert>
#include <string>
#include <utility>

namespace kvroof {
namespace {

constexpr std::uint64_t kMaxSlabBytes = 1ull << 30;

}  // namespace

Result<HostTier> HostTier::create(Device& device, std::uint64_t chunk_bytes,
                                  std::uint64_t tier_bytes, bool backed, Eviction eviction) {
  if (chunk_bytes == 0) return Status{Code::invalid, "a chunk needs at least one byte."};
  const std::uint64_t chunks = tier_bytes / chunk_bytes;
  if (chunks == 0 || chunks >= kNoSlot) {
    return Status{Code::invalid, "a host tier of " + std::to_string(tier_bytes) +
                                     " bytes must hold between 1 and 2^32 - 2 chunks of " +
                                     std::to_string(chunk_bytes) + " bytes: choose another size."};
  }
  const std::uint64_t slots_per_slab =
      std::min(chunks, std::max<std::uint64_t>(1, kMaxSlabBytes / chunk_bytes));
  HostTier tier(static_cast<std::uint32_t>(slots_per_slab));
  tier.facts_.chunk_bytes = chunk_bytes;
  for (std::uint64_t left = chunks; left > 0;) {
    const std::uint64_t slots = std::min(left, slots_per_slab);
    if (Status status = tier.add_slab(device, slots * chunk_bytes, backed); !status.ok()) {
      return status;
    }
    left -= slots;
  }
  tier.cut_slots(static_cast<std::uint32_t>(chunks), eviction);
  return tier;
}

// After the slabs: a size that the device refuses must not cost memory for its slots first.
void HostTier::cut_slots(std::uint32_t chunks, Eviction eviction) {
  facts_.chunks = chunks;
  index_ = ChunkIndex(chunks);
  policy_ = make_policy(eviction, chunks);
  slots_.resize(chunks);
  for (SlotId slot = chunks; slot-- > 0;) make_free(slot);
}

Status HostTier::add_slab(Device& device, std::uint64_t bytes, bool backed) {
  auto slab = device.allocate({.kind = MemoryKind::pinned, .bytes = bytes, .backed = backed});
  if (!slab.ok()) return slab.status();
  const BufferFacts& got = (*slab)->facts();
  const bool first = slabs_.empty();
  facts_.bytes += bytes;
  if (got.kind == MemoryKind::pinned) facts_.pinned_bytes += bytes;
  facts_.page_bytes = first ? got.page_bytes : std::min(facts_.page_bytes, got.page_bytes);
  facts_.numa_node = first || facts_.numa_node == got.numa_node ? got.numa_node : -1;
  facts_.registrations += got.pieces;
  facts_.backed = facts_.backed && got.backed;
  ++facts_.slabs;
  slabs_.push_back(std::move(*slab));
  return {};
}

SlotId HostTier::reserve(const ChunkKey& key) {
  assert(find(key) == kNoSlot);
  const SlotId slot = take_free_slot(key);
  if (slot == kNoSlot) return kNoSlot;
  slots_[slot] = Slot();
  slots_[slot].key = key;
  slots_[slot].references = 1;
  slots_[slot].state = State::reserved;
  index_.insert(key, slot);
  return slot;
}

SlotId HostTier::take_free_slot(const ChunkKey& key) {
  if (free_ == kNoSlot) {
    const SlotId victim =
        policy_->evict(key, [this](SlotId slot) { return slots_[slot].references == 0; });
    if (victim == kNoSlot) return kNoSlot;
    index_.erase(slots_[victim].key);
    make_free(victim);
    ++evictions_;
  }
  return std::exchange(free_, slots_[free_].next_free);
}

void HostTier::commit(SlotId slot) {
  assert(slots_[slot].state == State::reserved && slots_[slot].references > 0);
  slots_[slot].state = State::visible;
}

void HostTier::abandon(SlotId slot, bool may_still_land) {
  assert(slots_[slot].state == State::reserved && slots_[slot].references == 1);
  index_.erase(slots_[slot].key);
  if (!may_still_land) make_free(slot);
}

void HostTier::acquire(SlotId slot) {
  assert(visible(slot));
  ++slots_[slot].references;
}

void HostTier::release(SlotId slot) {
  assert(visible(slot) && slots_[slot].references > 0);
  --slots_[slot].references;
  if (std::exchange(slots_[slot].in_policy, true)) {
    policy_->hit(slot);
  } else {
    policy_->insert(slot, slots_[slot].key);
  }
}

Span HostTier::span(SlotId slot) const {
  return {slabs_[slot / slots_per_slab_].get(), slot % slots_per_slab_ * facts_.chunk_bytes,
          facts_.chunk_bytes};
}

void HostTier::make_free(SlotId slot) {
  slots_[slot] = Slot();
  slots_[slot].next_free = free_;
  free_ = slot;
}

}  // namespace kvroof
