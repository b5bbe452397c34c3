// SPDX-License-Identifier: Apache-2.0
// Whether the cases that an interrupted run left are those of a group of this run.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "suites/harness/grid.h"
#include "suites/harness/record.h"

namespace kvroof {

// What is odd about them: "has a case of context 77"; empty where they are what `suite` would
// record of the group with so many draws.
std::string what_is_odd(std::string_view suite, const ComparisonGroup& group, std::uint32_t draws,
                        std::span<const Case> cases);

}  // namespace kvroof
