// SPDX-License-Identifier: Apache-2.0
// What compares the plans of a group: figures of two cases.
#pragma once
#include <vector>

#include "suites/harness/record.h"
#include "suites/ttft/group_run.h"

namespace kvroof {

// Adds to `cases`, which stand in the order of run.plans and have their own metrics:
//   speedup         recompute's TTFT over that of another plan
//   gain_over_pure  the better pure plan's TTFT over hybrid's
//   speedup_alone   recompute's prefill over copy's load, without what a serving engine and the
//                   last token add
void add_ratios(const Session& session, const GroupRun& run, std::vector<Case>& cases);

}  // namespace kvroof
