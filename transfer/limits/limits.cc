// SPDX-License-Identifier: Apache-2.0
#include "transfer/limits/limits.h"

#include <algorithm>

namespace kvroof {
namespace {

bool better_recomputed(const LoadQuestion& question) {
  return question.load_time && question.recompute_time &&
         *question.load_time > *question.recompute_time;
}

}  // namespace

std::uint32_t chunks_within(std::uint64_t tokens, std::uint64_t limit, std::uint32_t chunk_tokens) {
  if (chunk_tokens == 0) return 0;
  const std::uint64_t allowed = limit == 0 ? tokens : std::min(tokens, limit);
  return static_cast<std::uint32_t>(allowed / chunk_tokens);
}

LoadDecision decide_load(const LoadQuestion& question) {
  LoadDecision decision;
  const std::uint64_t hit_tokens = std::uint64_t{question.hit_chunks} * question.chunk_tokens;
  const std::uint32_t allowed =
      chunks_within(hit_tokens, question.max_load_tokens, question.chunk_tokens);
  if (question.hit_chunks > 0) {
    decision.reason = allowed < question.hit_chunks ? LoadReason::limit : LoadReason::all;
    decision.chunks = allowed;
  }
  if (allowed > 0 && better_recomputed(question)) {
    decision.reason = LoadReason::backlog;
    decision.chunks = 0;
  }
  decision.tokens_loaded = std::uint64_t{decision.chunks} * question.chunk_tokens;
  decision.tokens_recomputed = question.tokens - decision.tokens_loaded;
  return decision;
}

}  // namespace kvroof
