// SPDX-License-Identifier: Apache-2.0
// How much of a request's prefix is moved at all: limits in tokens, rounding to whole chunks, and
// the rule that nobody waits for a load for longer than recomputing takes.
#pragma once
#include <cstdint>
#include <optional>

#include "backends/api/queue.h"

namespace kvroof {

// Tokens of one request; 0: no limit.
struct TransferLimits {
  std::uint64_t max_offload_tokens = 0, max_load_tokens = 0;
};

// The whole chunks among the first `tokens` of a request, no more than `limit` tokens of them. What
// lies behind them is recomputed.
std::uint32_t chunks_within(std::uint64_t tokens, std::uint64_t limit, std::uint32_t chunk_tokens);

// What is known when a request with a prefix in the tier is about to begin.
struct LoadQuestion {
  std::uint64_t tokens = 0;      // of the request
  std::uint32_t hit_chunks = 0;  // its leading ones that can be loaded
  std::uint32_t chunk_tokens = 0;
  std::uint64_t max_load_tokens = 0;
  // Until everything could be loaded: behind the backlog, and behind whoever brings the same chunks
  // to the tier. Empty: not known, and nothing is held against the load.
  std::optional<Nanos> load_time{};
  std::optional<Nanos> recompute_time{};  // of what would be loaded
};

enum class LoadReason : std::uint8_t {
  all,      // whatever was hit is loaded
  nothing,  // nothing was hit
  limit,    // max_load_tokens leaves some to be recomputed
  backlog,  // recomputing all of it is faster than waiting
};

struct LoadDecision {
  std::uint32_t chunks = 0;
  LoadReason reason = LoadReason::nothing;
  std::uint64_t tokens_loaded = 0, tokens_recomputed = 0;  // they add up to the request's
};

LoadDecision decide_load(const LoadQuestion& question);

}  // namespace kvroof
