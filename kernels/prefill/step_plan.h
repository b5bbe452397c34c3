// SPDX-License-Identifier: Apache-2.0
// Packs requests into forward steps of at most so many tokens, in order; a long request is cut.
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

}  // namespace kvroof
