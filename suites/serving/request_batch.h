// SPDX-License-Identifier: Apache-2.0
// The requests of one case: token ids, shuffled blocks of the cache, chunk keys, and the device
// buffers that their forward passes read and write.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "suites/serving/session.h"

namespace kvroof {

struct Request {
  std::vector<std::int32_t> tokens;
  std::vector<BlockId> blocks;                 // logical to physical
  std::vector<ChunkKey> keys;                  // of the whole chunks
  std::unique_ptr<Buffer> ids, table, logits;  // i32[tokens], i32[blocks], f32[vocab]

  // Tokens past..end of this request, with logits of the last.
  PrefillRequest prefill(Session& session, std::uint32_t past) const;

  // Its first `tokens`, without logits: only their KV is wanted.
  PrefillRequest prefill_front(Session& session, std::uint32_t tokens) const;
};

struct RequestBatch {
  std::vector<Request> requests;
  std::uint32_t context_tokens = 0;
  std::uint32_t cached_tokens = 0;  // of each request: its whole chunks
  std::uint32_t loaded_blocks = 0;  // of each request

  // At least one token is always computed: a request that is cached whole repeats its last token.
  std::uint32_t past_after_load() const { return std::min(cached_tokens, context_tokens - 1); }

  // Device memory that create() will take: token ids, block tables and logits.
  static std::uint64_t device_bytes(const ModelShape& shape, const SessionSpec& spec,
                                    std::uint64_t context_tokens, std::uint32_t batch);

  // Random tokens (a different prefix for each request) and a random permutation of the cache's
  // blocks, both from `seed`.
  static Result<RequestBatch> create(Session& session, std::uint32_t context_tokens,
                                     std::uint32_t batch, std::uint64_t seed);
};

}  // namespace kvroof
