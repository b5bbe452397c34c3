// SPDX-License-Identifier: Apache-2.0
#include "transfer/keys/chunk_key.h"

#include <cstring>

namespace kvroof {

std::vector<ChunkKey> chunk_keys(const CompatibilityRecord& record,
                                 std::span<const std::int32_t> tokens, std::uint32_t chunk_tokens,
                                 const KeyHash& hash) {
  std::vector<ChunkKey> keys;
  chunk_keys(digest(record, hash), tokens, chunk_tokens, keys, hash);
  return keys;
}

void chunk_keys(const Digest128& record, std::span<const std::int32_t> tokens,
                std::uint32_t chunk_tokens, std::vector<ChunkKey>& keys, const KeyHash& hash) {
  keys.clear();
  if (chunk_tokens == 0) return;
  const std::size_t chunks = tokens.size() / chunk_tokens;
  const std::size_t token_bytes = chunk_tokens * sizeof(std::int32_t);
  keys.reserve(chunks);
  // One contiguous message, the previous key and then the ids, is faster than streaming. No
  // record's encoding is one: those begin with a length, and this with a hash.
  std::vector<std::byte> message(sizeof(ChunkKey) + token_bytes);
  ChunkKey previous{record.low, record.high};
  for (std::size_t i = 0; i < chunks; ++i) {
    std::memcpy(message.data(), &previous, sizeof previous);
    std::memcpy(message.data() + sizeof previous, &tokens[i * chunk_tokens], token_bytes);
    const Digest128 own = hash(message);
    previous = {own.low, own.high};
    keys.push_back(previous);
  }
}

}  // namespace kvroof
