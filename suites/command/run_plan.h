// SPDX-License-Identifier: Apache-2.0
// What `kvroof run --plan-only` says: how much a run would copy and compute, and how long it would
// take, without running it.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "suites/command/job.h"
#include "suites/command/runner.h"
#include "suites/serving/ceilings.h"

namespace kvroof {

struct PlannedGroup {
  std::string suite;
  Json params;  // group_params()
  GroupPlan plan;
  Ceilings roofs;  // 0 where the whole group is skipped
};

// Of a device's wall clock; a simulated device's own times are not known before it runs.
struct WallTime {
  double least = 0, most = 0;  // seconds
};

struct RunPlan {
  std::vector<PlannedGroup> groups;
  bool measured_roofs = false;  // now, on this machine; false: the device states them
  std::size_t passes = 0;       // of single cases, on a simulated device
  WallTime wall;
};

// Opens the devices of the grid's links, and measures the roofs of a real one where it states none:
// a second or two of large products and copies.
RunPlan make_plan(Job& job, const Runner& runner, std::span<const std::size_t> selected);

// Seconds that one pass of the case takes at least: its FLOPs over the compute roof or its bytes
// over the link's, whichever is more. Empty where it is skipped, not counted, or a roof is unknown.
std::optional<double> least_seconds(const PlannedCase& one, const Ceilings& roofs);

}  // namespace kvroof
