// SPDX-License-Identifier: Apache-2.0
// What is in the KV of a schedule's conversations: bytes that tell the conversation, the chunk, the
// block and the region apart, and the keys and tokens that stand for them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/model/kv_layout.h"
#include "transfer/keys/chunk_key.h"
#include "transfer/keys/prefix_hash.h"
#include "transfer/lanes/planner.h"

namespace kvroof::schedules {

// One block of a conversation's prefix, counted from its start.
struct Piece {
  std::uint32_t conversation = 0, block = 0;
  bool operator==(const Piece&) const = default;
};

// What every byte of a region of the piece is.
std::uint8_t byte_of(const Piece& piece, std::uint32_t region);

// A conversation's keys, and its tokens where they are checked.
struct Conversation {
  std::vector<ChunkKey> keys;
  std::vector<std::int32_t> ids;
  std::vector<PrefixHash> prefixes;

  // `narrow`: keys of few bits, so that conversations collide.
  Conversation(std::uint32_t number, std::uint32_t chunks, std::uint32_t chunk_tokens, bool narrow);
  ChunkTokens tokens(std::size_t chunks) const { return ChunkTokens{ids, prefixes}.of(0, chunks); }
};

}  // namespace kvroof::schedules
