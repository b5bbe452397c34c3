// SPDX-License-Identifier: Apache-2.0
// Which chunk goes when a full tier needs room. A policy hears three things: a chunk came in,
// chunks were hit, room is needed; and that a chunk left otherwise.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "transfer/keys/chunk_key.h"
#include "transfer/tier/slot_id.h"

namespace kvroof {

enum class Eviction : std::uint8_t { lru, arc, s3fifo };

constexpr std::string_view name(Eviction eviction) {
  constexpr std::string_view kNames[] = {"lru", "arc", "s3fifo"};
  return kNames[static_cast<std::size_t>(eviction)];
}

using MayEvict = std::function<bool(SlotId)>;

class EvictionPolicy {
 public:
  virtual ~EvictionPolicy() = default;

  // `slot`, which the policy does not hold, holds `key` from now on.
  virtual void insert(SlotId slot, const ChunkKey& key) = 0;

  // Slots that it holds were looked up, found and used, in this order. Many at once, since each
  // costs reads at random places, which can go on at the same time.
  virtual void hit(std::span<const SlotId> slots) = 0;

  // Room for `key`, which is in none of its slots: the policy's first choice of those that `may`
  // names, which it no longer holds; kNoSlot where there is none. A slot that may not go now must
  // be hit before it is asked for again: until then the policy passes it over at no cost.
  virtual SlotId evict(const ChunkKey& key, const MayEvict& may) = 0;

  // A slot that it holds is empty from now on, for a reason of the tier's.
  virtual void forget(SlotId slot) = 0;

  // What it keeps of slots, in bytes of memory; without the keys of chunks that are gone.
  virtual std::uint64_t bytes() const = 0;
};

// For a tier of so many slots, at least one.
std::unique_ptr<EvictionPolicy> make_policy(Eviction eviction, std::uint32_t slots);

}  // namespace kvroof
