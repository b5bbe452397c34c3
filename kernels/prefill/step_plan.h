// SPDX-License-Identifier: Apache-2.0
// Packs requests into forward steps of at most so many tokens, in order; a long request is cut.
// Equal ones that lie side by side are attended by one op.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/prefill/prefill.h"

namespace kvroof {

// Part of one request inside a step.
struct Segment {
  std::uint32_t request = 0;  // index
  std::uint32_t first = 0;    // of the request's new tokens
  std::uint32_t tokens = 0;
  std::uint32_t row = 0;  // of the step's activations
  bool last = false;      // the request ends here
};

using Step = std::vector<Segment>;

std::vector<Step> plan_steps(std::span<const PrefillRequest> requests, std::uint32_t step_tokens);

inline std::uint32_t rows_of(const Step& step) { return step.back().row + step.back().tokens; }

// Sequences of a step that one op takes: they follow one another in the step's rows and in one
// block table.
struct SegmentBatch {
  std::uint32_t row = 0, tokens = 0, past = 0;  // of the first; the others' are as many
  std::uint32_t sequences = 1;
  KvSpans kv;
};

// Neighbours of the same tokens and past are one batch where their rows of the table, each of
// exactly the blocks that they fill, are neighbours too.
std::vector<SegmentBatch> batch_segments(const Step& step, std::span<const PrefillRequest> requests,
                                         std::size_t kv_group, std::uint32_t block_tokens);

}  // namespace kvroof
