// SPDX-License-Identifier: Apache-2.0
// What a chunk of KV is known by: a 128-bit hash chained over everything its bytes depend on.
#pragma once
#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "transfer/keys/compatibility.h"

namespace kvroof {

struct ChunkKey {
  std::uint64_t low = 0, high = 0;
  auto operator<=>(const ChunkKey&) const = default;
};

// Keys of the whole chunks of `tokens`, each hashed from its predecessor (the first from the
// record's digest) and its own token ids: equal keys mean equal prefixes under equal records, as
// surely as `hash` has no collisions. A chunk_tokens of zero has no chunks.
std::vector<ChunkKey> chunk_keys(const CompatibilityRecord& record,
                                 std::span<const std::int32_t> tokens, std::uint32_t chunk_tokens,
                                 const KeyHash& hash = {});

// The same into `keys` (cleared first), from a digest made once, under the same hash: the serving
// path.
void chunk_keys(const Digest128& record, std::span<const std::int32_t> tokens,
                std::uint32_t chunk_tokens, std::vector<ChunkKey>& keys, const KeyHash& hash = {});

}  // namespace kvroof
