// SPDX-License-Identifier: Apache-2.0
#include "transfer/tier/token_store.h"

#include <algorithm>
#include <cassert>

namespace kvroof {

TokenStore::TokenStore(std::uint32_t slots, std::uint32_t chunk_tokens)
    : slots_(slots),
      chunk_tokens_(chunk_tokens),
      ids_(std::make_unique_for_overwrite<std::int32_t[]>(std::uint64_t{slots} * chunk_tokens)),
      prefixes_(std::make_unique_for_overwrite<PrefixHash[]>(slots)) {}

void TokenStore::store(SlotId slot, const ChunkTokens& chunk) {
  assert(slot < slots_ && chunk.chunks() == 1 && chunk.tokens.size() == chunk_tokens_);
  std::copy(chunk.tokens.begin(), chunk.tokens.end(), ids(slot).begin());
  prefixes_[slot] = chunk.prefixes.front();
}

bool TokenStore::matches(SlotId slot, const ChunkTokens& chunk) const {
  assert(slot < slots_ && chunk.chunks() == 1);
  return prefixes_[slot] == chunk.prefixes.front() && std::ranges::equal(ids(slot), chunk.tokens);
}

std::uint32_t TokenStore::matching(std::span<const SlotId> slots, const ChunkTokens& chunks) const {
  std::uint32_t count = 0;
  while (count < slots.size() && matches(slots[count], chunks.of(count, 1))) ++count;
  return count;
}

std::uint64_t TokenStore::bytes() const {
  return std::uint64_t{slots_} * (chunk_tokens_ * sizeof(std::int32_t) + sizeof(PrefixHash));
}

}  // namespace kvroof
