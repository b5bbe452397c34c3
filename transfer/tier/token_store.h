// SPDX-License-Identifier: Apache-2.0
// The token ids of each chunk of a tier, by slot, so that a hit can be checked against what was
// stored rather than against its key alone.
#pragma once
#include <cstdint>
#include <memory>
#include <span>

#include "transfer/keys/prefix_hash.h"
#include "transfer/tier/slot_id.h"

namespace kvroof {

class TokenStore {
 public:
  // Takes memory for chunk_tokens ids and a prefix hash a slot; ids take pages as they are written.
  TokenStore(std::uint32_t slots, std::uint32_t chunk_tokens);

  // `chunk` is one chunk, whose bytes the slot holds from now on, or will when they have landed.
  void store(SlotId slot, const ChunkTokens& chunk);

  // Whether the slot, which was stored, holds this very chunk behind this very prefix: its own ids
  // are compared one by one, those before it by their hash.
  bool matches(SlotId slot, const ChunkTokens& chunk) const;

  // How many leading slots match their chunk of `chunks`, which has one for each at least.
  std::uint32_t matching(std::span<const SlotId> slots, const ChunkTokens& chunks) const;

  // Whether these are the whole tokens of so many chunks.
  bool fits(const ChunkTokens& tokens, std::size_t chunks) const {
    return tokens.chunks() == chunks && tokens.tokens.size() == chunks * chunk_tokens_;
  }

  std::uint64_t bytes() const;  // of memory, besides the chunks

 private:
  std::span<std::int32_t> ids(SlotId slot) const {
    return {ids_.get() + std::uint64_t{slot} * chunk_tokens_, chunk_tokens_};
  }

  std::uint32_t slots_, chunk_tokens_;
  std::unique_ptr<std::int32_t[]> ids_;
  std::unique_ptr<PrefixHash[]> prefixes_;
};

}  // namespace kvroof
