// SPDX-License-Identifier: Apache-2.0
// The table that `kvroof run ttft` prints.
#pragma once
#include <span>
#include <string>

#include "suites/harness/record.h"

namespace kvroof {

// A row a comparison group, in the order of `cases`; then the crossovers, where they are of one
// series.
std::string ttft_text(std::span<const Case> cases, std::span<const Answer> answers);

}  // namespace kvroof
