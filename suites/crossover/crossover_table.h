// SPDX-License-Identifier: Apache-2.0
// The table that `kvroof run crossover` prints.
#pragma once
#include <span>
#include <string>

#include "suites/harness/record.h"

namespace kvroof {

// First the closed form: for each link and dtype the machine's balance, FLOPs per
// KV byte, their quotient Pi, and from which context it reaches each margin. Then a row a series
// with the crossovers of plan `copy`.
std::string crossover_text(std::span<const Case> cases, std::span<const Answer> answers);

}  // namespace kvroof
