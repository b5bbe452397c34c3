// SPDX-License-Identifier: Apache-2.0
// The requests of one case: token ids, shuffled blocks of the cache, chunk keys, and the device
// buffers that their forward passes read and write.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "suites/serving/session.h"

namespace kvroof {

// Chunks of each request, counted from its start.
struct ChunkRange {
  std::uint32_t first = 0, count = 0;
  bool operator==(const ChunkRange&) const = default;
};

// A request's place in the cache of one group of layers.
struct RequestKv {
  std::vector<BlockId> blocks;       // logical to physical
  std::vector<ChunkKey> keys;        // of the whole chunks
  std::vector<PrefixHash> prefixes;  // of the same, where tokens are checked
  Span table;                        // i32[blocks], in one of the batch's tables
};

struct Request {
  std::vector<std::int32_t> tokens;
  std::vector<RequestKv> kv;            // one a group
  std::unique_ptr<Buffer> ids, logits;  // i32[tokens], f32[vocab]

  // Tokens past..end of this request, with logits of the last.
  PrefillRequest prefill(Session& session, std::uint32_t past) const;

  // Its first `tokens`, without logits: only their KV is wanted.
  PrefillRequest prefill_front(Session& session, std::uint32_t tokens) const;
};

struct RequestBatch {
  std::vector<Request> requests;
  std::uint32_t context_tokens = 0;
  std::uint32_t cached_tokens = 0;  // of each request: its whole chunks
  std::uint32_t chunks = 0;         // of each request
  std::uint32_t offloaded = 0;      // the leading ones of these that are stored: all, or a limit's
  bool by_layer = false;            // loads go layer by layer, and so does what waits for them
  std::vector<Request> live;        // that decode meanwhile; nothing of them is cached
  // Of block ids: one for each request's each group, and one for each group of all that are live,
  // whose rows follow one another so that one op attends for all of them.
  std::vector<std::unique_ptr<Buffer>> tables;

  // Device memory that create() will take: token ids, block tables and logits.
  static std::uint64_t device_bytes(const ModelShape& shape, const SessionSpec& spec,
                                    std::uint64_t context_tokens, std::uint32_t batch,
                                    std::uint32_t live);

  // Random tokens (a different prefix for each request) and a random permutation of the cache's
  // blocks, both from `seed`. `live` more sequences of as many tokens.
  static Result<RequestBatch> create(Session& session, std::uint32_t context_tokens,
                                     std::uint32_t batch, std::uint64_t seed,
                                     std::uint32_t live = 0);
};

ChunkRange all_chunks(const RequestBatch& batch);

// Where the computation goes on behind the chunks of `range`. At least one token is always
// computed: a request that is cached whole repeats its last token.
std::uint32_t past_after(const Session& session, const RequestBatch& batch, ChunkRange range);

// The part of `range` that a group's layers need: with a window, what is seen from past_after().
ChunkRange needed_chunks(const Session& session, const RequestBatch& batch, ChunkRange range,
                         std::size_t group);

// What the engine is told of chunks.
struct Chunks {
  std::span<const ChunkKey> keys;
  std::span<const BlockId> blocks;
  ChunkTokens tokens;  // empty where they aren't checked
};
Chunks chunks_of(const Session& session, const Request& request, ChunkRange range,
                 std::size_t group);

std::span<const BlockId> blocks_of(const Session& session, const Request& request, ChunkRange range,
                                   std::size_t group);

}  // namespace kvroof
