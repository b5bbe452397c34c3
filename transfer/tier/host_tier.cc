// SPDX-License-Identifier: Apache-2.0
#include "transfer/tier/host_tier.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <string>
#include <utility>

namespace kvroof {
namespace {

constexpr std::uint64_t kMaxSlabBytes = 1ull << 30;
constexpr std::size_t kAtOnce = 64;  // keys or slots, whose copies lie on the stack

std::uint64_t slots_a_slab(const DeviceInfo& info, std::uint64_t chunk_bytes) {
  std::uint64_t most = kMaxSlabBytes;
  if (info.max_registration_bytes > 0) most = std::min(most, info.max_registration_bytes);
  return std::max<std::uint64_t>(1, most / chunk_bytes);
}

Status check(const HostTierConfig& config) {
  if (config.chunk_bytes == 0) return {Code::invalid, "a chunk needs at least one byte."};
  const std::uint64_t chunks = config.bytes / config.chunk_bytes;
  if (chunks > 0 && chunks <= SlotTable::kMostSlots) return {};
  return {Code::invalid, "a host tier of " + std::to_string(config.bytes) +
                             " bytes must hold between 1 and " +
                             std::to_string(SlotTable::kMostSlots) + " chunks of " +
                             std::to_string(config.chunk_bytes) + " bytes: choose another size."};
}

}  // namespace

HostTier::HostTier(const HostTierConfig& config, std::uint32_t slots_per_slab)
    : slots_per_slab_(slots_per_slab) {
  facts_.chunk_bytes = config.chunk_bytes;
}

Result<HostTier> HostTier::create(Device& device, const HostTierConfig& config) {
  if (Status status = check(config); !status.ok()) return status;
  const std::uint64_t chunks = config.bytes / config.chunk_bytes;
  const std::uint64_t most = std::min(chunks, slots_a_slab(device.info(), config.chunk_bytes));
  HostTier tier(config, static_cast<std::uint32_t>(most));
  for (std::uint64_t left = chunks; left > 0;) {
    const std::uint64_t slots = std::min(left, most);
    Status status = tier.add_slab(device, slots * config.chunk_bytes, config.backed);
    if (!status.ok()) return status;
    left -= slots;
  }
  tier.cut_slots(static_cast<std::uint32_t>(chunks), config);
  return tier;
}

Status HostTier::add_slab(Device& device, std::uint64_t bytes, bool backed) {
  facts_.numa_node_asked = device.info().numa_node;
  auto slab = device.allocate({.kind = MemoryKind::pinned,
                               .bytes = bytes,
                               .numa_node = facts_.numa_node_asked,
                               .backed = backed});
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

// After the slabs: a size that the device refuses must not cost memory for its slots first.
void HostTier::cut_slots(std::uint32_t chunks, const HostTierConfig& config) {
  facts_.chunks = chunks;
  slots_ = SlotTable(chunks);
  if (config.sums) sums_.resize(chunks);
  policy_ = make_policy(config.eviction, chunks);
  facts_.bookkeeping_bytes = slots_.bytes() + sums_.size() * sizeof(sums_[0]) + policy_->bytes();
  most_protected_ = static_cast<std::uint32_t>(config.protected_share * chunks);
  for (SlotId slot = chunks; slot-- > 0;) make_free(slot);
}

std::uint32_t HostTier::lookup(std::span<const ChunkKey> keys, std::span<SlotId> slots) const {
  std::array<SlotId, kAtOnce> found;
  for (std::size_t at = 0; at < keys.size(); at += kAtOnce) {
    const std::size_t count = std::min(kAtOnce, keys.size() - at);
    slots_.find(keys.subspan(at, count), std::span(found).first(count));
    for (std::size_t i = 0; i < count; ++i) {
      if (found[i] == kNoSlot || !visible(found[i])) return static_cast<std::uint32_t>(at + i);
      if (!slots.empty()) slots[at + i] = found[i];
    }
  }
  return static_cast<std::uint32_t>(keys.size());
}

SlotId HostTier::reserve(const ChunkKey& key) {
  assert(find(key) == kNoSlot);
  const SlotId slot = take_free_slot(key);
  if (slot == kNoSlot) return kNoSlot;
  slots_.insert(key, slot);
  slots_[slot].references = 1;
  slots_[slot].state = SlotState::reserved;
  set_sum(slot, 0);
  return slot;
}

SlotId HostTier::take_free_slot(const ChunkKey& key) {
  if (free_ == kNoSlot) {
    const SlotId victim =
        policy_->evict(key, [this](SlotId slot) { return slots_[slot].references == 0; });
    if (victim == kNoSlot) return kNoSlot;
    slots_.erase(victim);
    make_free(victim);
    ++evictions_;
  }
  return std::exchange(free_, slots_[free_].next_free);
}

void HostTier::commit(SlotId slot) {
  assert(slots_[slot].state == SlotState::reserved && slots_[slot].references > 0);
  slots_[slot].state = SlotState::visible;
}

void HostTier::abandon(SlotId slot, bool may_still_land) {
  assert(slots_[slot].state == SlotState::reserved && slots_[slot].references == 1);
  slots_.erase(slot);
  if (!may_still_land) make_free(slot);
}

void HostTier::acquire(SlotId slot) {
  assert(visible(slot));
  ++slots_[slot].references;
}

// Hits go to the policy together, up to the next slot that is new to it.
void HostTier::release(std::span<const SlotId> slots) {
  std::array<SlotId, kAtOnce> used;
  std::size_t count = 0;
  const auto tell = [&] { policy_->hit(std::span(used).first(std::exchange(count, 0))); };
  for (const SlotId slot : slots) {
    if (slot == kNoSlot || !give_back(slot)) continue;
    if (std::exchange(slots_[slot].in_policy, true)) {
      used[count++] = slot;
      if (count == kAtOnce) tell();
    } else {
      tell();
      policy_->insert(slot, slots_[slot].key);
    }
  }
  tell();
}

// False where it was dropped, so that nobody used what is there now.
bool HostTier::give_back(SlotId slot) {
  Slot& one = slots_[slot];
  assert(one.references > 0);
  --one.references;
  if (one.state == SlotState::visible) return true;
  assert(one.state == SlotState::dropped);
  if (one.references == 0) make_free(slot);
  return false;
}

void HostTier::drop(SlotId slot) {
  Slot& one = slots_[slot];
  assert(one.state == SlotState::visible);
  slots_.erase(slot);
  if (std::exchange(one.in_policy, false)) policy_->forget(slot);
  one.state = SlotState::dropped;
  if (std::exchange(one.is_protected, false)) {
    --one.references;
    --protected_;
  }
  if (one.references == 0) make_free(slot);
}

Status HostTier::protect(const ChunkKey& key, bool on) {
  const SlotId slot = find(key);
  if (slot == kNoSlot || !visible(slot)) {
    if (!on) return {};
    return {Code::invalid, "A chunk that is to be protected must be in the host tier: offload it."};
  }
  if (slots_[slot].is_protected == on) return {};
  if (on && protected_ == most_protected_) {
    return {Code::no_memory, "The host tier protects " + std::to_string(protected_) + " of its " +
                                 std::to_string(facts_.chunks) +
                                 " chunks, as many as may be: end the protection of another, or "
                                 "make the tier larger."};
  }
  slots_[slot].is_protected = on;
  on ? ++protected_ : --protected_;
  on ? acquire(slot) : release(slot);
  return {};
}

Span HostTier::span(SlotId slot) const {
  return {slabs_[slot / slots_per_slab_].get(), slot % slots_per_slab_ * facts_.chunk_bytes,
          facts_.chunk_bytes};
}

HostTierUse HostTier::use() const {
  HostTierUse use;
  for (SlotId slot = free_; slot != kNoSlot; slot = slots_[slot].next_free) ++use.free;
  for (SlotId id = 0; id < facts_.chunks; ++id) {
    const Slot& slot = slots_[id];
    if (slot.state == SlotState::free) continue;
    use.reserved += slot.state == SlotState::reserved;
    use.visible += slot.state == SlotState::visible;
    use.dropped += slot.state == SlotState::dropped;
    const bool in_use = slot.references > (slot.is_protected ? 1u : 0u);
    use.referenced += slot.state != SlotState::reserved && in_use;
  }
  return use;
}

void HostTier::make_free(SlotId slot) {
  slots_[slot] = Slot();
  slots_[slot].next_free = free_;
  free_ = slot;
}

}  // namespace kvroof
