// SPDX-License-Identifier: Apache-2.0
// The host tier: slabs of pinned memory cut into slots of one chunk each, a table from key to slot,
// and eviction, by a policy, of what nobody references.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "backends/api/device.h"
#include "transfer/eviction/policy.h"
#include "transfer/keys/chunk_key.h"
#include "transfer/tier/slot_table.h"

namespace kvroof {

struct HostTierConfig {
  std::uint64_t chunk_bytes = 0;
  std::uint64_t bytes = 0;  // rounded down to whole chunks
  bool backed = true;       // false: no contents (simulator with data off)
  Eviction eviction = Eviction::lru;
  bool sums = false;             // keeps a checksum a chunk, for who asks
  double protected_share = 0.5;  // of the chunks, which may be protected at once
};

// What the tier really is, summed over its slabs, beside what was asked for.
struct HostTierFacts {
  std::uint64_t chunk_bytes = 0, bytes = 0;
  std::uint64_t pinned_bytes = 0;       // less than `bytes`: some of it silently is pageable
  std::uint64_t page_bytes = 0;         // the smallest page of any slab; 0: unknown
  std::uint64_t bookkeeping_bytes = 0;  // besides the data, without the keys of chunks evicted
  std::uint32_t chunks = 0, slabs = 0, registrations = 0;
  int numa_node = -1;  // -1: unknown, or slabs lie on several
  int numa_node_asked = -1;
  bool backed = true;  // false: no contents exist
};

// Where the slots are: for checks that nothing leaks. Those that are lost for good count as
// reserved.
struct HostTierUse {
  std::uint32_t free = 0, reserved = 0, visible = 0, dropped = 0;
  std::uint32_t referenced = 0;  // of visible and dropped ones; protection apart
};

// A slot is free, reserved (being written, invisible) or visible. References pin it: only a visible
// slot without references is ever evicted.
class HostTier {
 public:
  // Slabs of at most 1 GiB and, where chunks fit, of what the device registers at once; near the
  // device. `invalid`: less than a chunk, or too many; `no_memory`: the device has not so much.
  static Result<HostTier> create(Device& device, const HostTierConfig& config);

  const HostTierFacts& facts() const { return facts_; }
  std::uint64_t evictions() const { return evictions_; }
  HostTierUse use() const;  // goes through all slots

  // The key's slot, reserved or visible; kNoSlot where it has none.
  SlotId find(const ChunkKey& key) const { return slots_.find(key); }
  const ChunkKey& key(SlotId slot) const { return slots_[slot].key; }  // reserved or visible
  bool visible(SlotId slot) const { return slots_[slot].state == SlotState::visible; }

  // How many leading keys are visible. The slots of those stand in `slots`, which is as long as
  // `keys`, or empty where nobody asks.
  std::uint32_t lookup(std::span<const ChunkKey> keys, std::span<SlotId> slots = {}) const;

  // A slot for `key`, which has none yet, with one reference; evicts where none is free. kNoSlot
  // where every chunk is referenced: the caller does without.
  SlotId reserve(const ChunkKey& key);

  void commit(SlotId slot);  // reserved -> visible: its bytes have landed
  // Reserved -> free: they never will; takes the reference back. Where they `may_still_land` the
  // slot is lost for good.
  void abandon(SlotId slot, bool may_still_land = false);
  void acquire(SlotId slot);  // one more reference, of a visible one

  // One reference less of each: its use is over, which the policy hears of now, in this order.
  // kNoSlot among them is passed over.
  void release(std::span<const SlotId> slots);
  void release(SlotId slot) { release({&slot, 1}); }

  // Visible -> gone: no longer found, and free once nobody references it.
  void drop(SlotId slot);

  // A protected chunk is never evicted. `invalid`: the chunk isn't visible; `no_memory`: as many
  // as may be are protected already. Protecting twice is harmless, and so is ending it twice.
  Status protect(const ChunkKey& key, bool on);
  bool is_protected(SlotId slot) const { return slots_[slot].is_protected; }
  std::uint32_t protected_chunks() const { return protected_; }

  Span span(SlotId slot) const;  // of its chunk_bytes

  // The checksum of a reserved or visible slot's bytes; 0: none was ever set, or none are kept.
  std::uint64_t sum(SlotId slot) const { return sums_.empty() ? 0 : sums_[slot]; }
  void set_sum(SlotId slot, std::uint64_t sum) {
    if (!sums_.empty()) sums_[slot] = sum;
  }

 private:
  HostTier(const HostTierConfig& config, std::uint32_t slots_per_slab);
  Status add_slab(Device& device, std::uint64_t bytes, bool backed);
  void cut_slots(std::uint32_t chunks, const HostTierConfig& config);
  SlotId take_free_slot(const ChunkKey& key);
  bool give_back(SlotId slot);
  void make_free(SlotId slot);

  HostTierFacts facts_;
  std::uint32_t slots_per_slab_;
  std::vector<std::unique_ptr<Buffer>> slabs_;
  SlotTable slots_{0};
  HugeVector<std::uint64_t> sums_;  // by slot; empty: none are kept
  std::unique_ptr<EvictionPolicy> policy_;
  SlotId free_ = kNoSlot;
  std::uint32_t protected_ = 0, most_protected_ = 0;
  std::uint64_t evictions_ = 0;
};

}  // namespace kvroof
