// SPDX-License-Identifier: Apache-2.0
// The cases of one comparison group in a few words: for Google Benchmark, and for the progress
// line.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "suites/harness/benchmark_glue.h"
#include "suites/harness/grid.h"
#include "suites/harness/record.h"

namespace kvroof {

// Its label is the basis of the figures, and what was skipped beside them. Its error stands in
// place of the figures: why none is there, or what failed or is incorrect.
GroupReport group_report(std::span<const Case> cases);

// Every counter that the report of a group of these plans may have.
std::vector<std::string> counter_names(std::span<const PlanKind> plans);

// "ok" where all are, else "recompute ok, copy skipped".
std::string outcomes(std::span<const Case> cases);

}  // namespace kvroof
