// SPDX-License-Identifier: Apache-2.0
// A run's plan for programs: `--plan-only --json`.
#pragma once
#include "suites/command/run_plan.h"

namespace kvroof {

Json plan_json(const Job& job, const RunPlan& plan);

}  // namespace kvroof
