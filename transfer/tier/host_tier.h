// SPDX-License-Identifier: Apache-2.0
// The host tier: slabs of pinned memory cut into slots of one chunk each, an index from key to
// slot, and eviction, by a policy, of what nobody references.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "backends/api/device.h"
#include "transfer/eviction/policy.h"
#include "transfer/keys/chunk_key.h"
#include "transfer/tier/chunk_index.h"

namespace kvroof {

// What the tier really is, summed over its slabs.
struct HostTierFacts {
  std::uint64_t chunk_bytes = 0, bytes = 0;
  std::uint64_t pinned_bytes = 0;  // less than `bytes`: some of it silently is pageable
  std::uint64_t page_bytes = 0;    // the smallest page of any slab; 0: unknown
  std::uint32_t chunks = 0, slabs = 0, registrations = 0;
  int numa_node = -1;  // -1: unknown, or slabs lie on several
  bool backed = true;  // false: no contents exist
};

// A slot is free, reserved (being written, invisible) or visible. References pin it: only a visible
// slot without references is ever evicted.
class HostTier {
 public:
  // Whole chunks only; slabs of at most 1 GiB, since drivers limit one registration's size.
  static Result<HostTier> create(Device& device, std::uint64_t chunk_bytes,
                                 std::uint64_t tier_bytes, bool backed,
                                 Eviction eviction = Eviction::lru);

  const HostTierFacts& facts() const { return facts_; }
  std::uint64_t evictions() const { return evictions_; }

  // The key's slot, reserved or visible; kNoSlot where it has none.
  SlotId find(const ChunkKey& key) const { return index_.find(key); }
  bool visible(SlotId slot) const { return slots_[slot].state == State::visible; }

  // A slot for `key`, which has none yet, with one reference; evicts where none is free. kNoSlot
  // where every chunk is referenced: the caller does without.
  SlotId reserve(const ChunkKey& key);

  void commit(SlotId slot);  // reserved -> visible: its bytes have landed
  // Reserved -> free: they never will; takes the reference back. Where they `may_still_land` the
  // slot is lost for good.
  void abandon(SlotId slot, bool may_still_land = false);
  void acquire(SlotId slot);  // one more reference
  void release(SlotId slot);  // one less: its use is over, which the policy hears of now

  Span span(SlotId slot) const;  // of its chunk_bytes

 private:
  enum class State : std::uint8_t { free, reserved, visible };
  struct Slot {
    ChunkKey key;
    SlotId next_free = kNoSlot;
    std::uint32_t references = 0;
    State state = State::free;
    bool in_policy = false;  // from its first release on
  };

  explicit HostTier(std::uint32_t slots_per_slab) : slots_per_slab_(slots_per_slab) {}
  void cut_slots(std::uint32_t chunks, Eviction eviction);
  Status add_slab(Device& device, std::uint64_t bytes, bool backed);
  SlotId take_free_slot(const ChunkKey& key);
  void make_free(SlotId slot);

  HostTierFacts facts_;
  std::uint32_t slots_per_slab_;
  std::vector<std::unique_ptr<Buffer>> slabs_;
  std::vector<Slot> slots_;
  ChunkIndex index_{0};
  std::unique_ptr<EvictionPolicy> policy_;
  SlotId free_ = kNoSlot;
  std::uint64_t evictions_ = 0;
};

}  // namespace kvroof
