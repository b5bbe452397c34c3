// SPDX-License-Identifier: Apache-2.0
// What kvroof names but this build cannot run: one table, a row a grid value.
#pragma once
#include <string_view>

#include "suites/harness/grid.h"

namespace kvroof {

// The reason for which a case is skipped, a sentence; empty where this build runs it.
std::string_view unavailable(const GridPoint& point);

}  // namespace kvroof
