// SPDX-License-Identifier: Apache-2.0
// From which context on is copying faster? Read off the cases of a run.
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "suites/harness/record.h"

namespace kvroof {

// By which copying may be called faster.
inline constexpr double kMargins[] = {1.0, 1.1, 2.0};

// For each set of equal params but the context, and for each of kMargins: the smallest context
// tried from which on `metric` is at least the margin at every larger one too. Where the margin
// lies within the 95 % interval of `metric` at that context, or at the largest one tried where
// there is none, the verdict is inside_interval.
std::vector<Answer> crossovers(std::span<const Case> cases, std::string_view question,
                               std::string_view metric);

// By `speedup`: the question "crossover".
std::vector<Answer> crossovers(std::span<const Case> cases);

}  // namespace kvroof
