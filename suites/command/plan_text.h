// SPDX-License-Identifier: Apache-2.0
// A run's plan for people, in 80 columns.
#pragma once
#include <string>

#include "suites/command/run_plan.h"

namespace kvroof {

std::string plan_text(const Job& job, const RunPlan& plan);

}  // namespace kvroof
