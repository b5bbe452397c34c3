// SPDX-License-Identifier: Apache-2.0
// Which chunk goes when a full tier needs room. A policy sees three things: a chunk came in, a
// chunk was hit, room is needed.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "transfer/tier/chunk_index.h"

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

  // A slot that it holds was looked up and found.
  virtual void hit(SlotId slot) = 0;

  // Room for `key`, which is in none of its slots: the policy's first choice of those that `may`
  // names, which it no longer holds; kNoSlot where there is none.
  virtual SlotId evict(const ChunkKey& key, const MayEvict& may) = 0;
};

// For a tier of so many slots, at least one.
std::unique_ptr<EvictionPolicy> make_policy(Eviction eviction, std::uint32_t slots);

}  // namespace kvroof
