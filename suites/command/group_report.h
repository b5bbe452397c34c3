// SPDX-License-Identifier: Apache-2.0
// The cases of one comparison group in a few words: for Google Benchmark, and for the progress
// line.
#pragma once
#include <span>
#include <string>

#include "suites/harness/benchmark_glue.h"
#include "suites/harness/record.h"

namespace kvroof {

GroupReport group_report(std::span<const Case> cases);

// "ok" where all are, else "recompute ok, copy skipped".
std::string outcomes(std::span<const Case> cases);

}  // namespace kvroof
