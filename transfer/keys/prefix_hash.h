// SPDX-License-Identifier: Apache-2.0
// Which prefix a chunk's bytes belong to, for a tier that checks tokens on a hit: where keys
// collide, a chunk's own tokens may be equal and those before it not.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "transfer/keys/compatibility.h"
#include "transfer/keys/key_hash.h"

namespace kvroof {

// Of a record and all tokens up to a chunk's end, under a secret and never narrowed, whatever the
// keys are. A type of its own, so that no key can pass for one.
struct PrefixHash {
  Digest128 value;
  bool operator==(const PrefixHash&) const = default;
};

// Of one record. Hashers of one process agree, and nobody outside can foresee what they give.
class PrefixHasher {
 public:
  explicit PrefixHasher(const CompatibilityRecord& record)
      : PrefixHasher(record, process_secret()) {}
  PrefixHasher(const CompatibilityRecord& record, const HashSecret& secret);

  // Of the whole chunks of `tokens`, into `prefixes` (cleared first).
  void operator()(std::span<const std::int32_t> tokens, std::uint32_t chunk_tokens,
                  std::vector<PrefixHash>& prefixes) const;

 private:
  static const HashSecret& process_secret();  // drawn at the first call

  KeyHash hash_;
  Digest128 root_;
};

// What a hit must agree with: the token ids of some chunks, one after the other, and a prefix hash
// for each. Refers to the caller's; empty where tokens aren't checked.
struct ChunkTokens {
  std::span<const std::int32_t> tokens;
  std::span<const PrefixHash> prefixes;

  std::size_t chunks() const { return prefixes.size(); }
  ChunkTokens of(std::size_t first, std::size_t count) const {
    const std::size_t each = prefixes.empty() ? 0 : tokens.size() / prefixes.size();
    return {tokens.subspan(first * each, count * each), prefixes.subspan(first, count)};
  }
};

}  // namespace kvroof
