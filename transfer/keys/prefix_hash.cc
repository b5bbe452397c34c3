// SPDX-License-Identifier: Apache-2.0
#include "transfer/keys/prefix_hash.h"

#include "transfer/keys/chunk_key.h"

namespace kvroof {

PrefixHasher::PrefixHasher(const CompatibilityRecord& record, const HashSecret& secret)
    : hash_(secret), root_(digest(record, hash_)) {}

void PrefixHasher::operator()(std::span<const std::int32_t> tokens, std::uint32_t chunk_tokens,
                              std::vector<PrefixHash>& prefixes) const {
  std::vector<ChunkKey> chain;  // as keys chain, of what keys chain
  chunk_keys(root_, tokens, chunk_tokens, chain, hash_);
  prefixes.clear();
  for (const ChunkKey& link : chain) prefixes.push_back({{link.low, link.high}});
}

const HashSecret& PrefixHasher::process_secret() {
  static const HashSecret secret = random_secret();
  return secret;
}

}  // namespace kvroof
