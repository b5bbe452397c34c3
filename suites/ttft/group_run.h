// SPDX-License-Identifier: Apache-2.0
// One comparison group on a session that is set up: verify, then sample its plans in turn.
#pragma once
#include <cstdint>
#include <vector>

#include "suites/harness/grid.h"
#include "suites/harness/sampler.h"
#include "suites/harness/suite.h"
#include "suites/serving/copy_check.h"
#include "suites/serving/restore.h"
#include "suites/serving/verify.h"

namespace kvroof {

constexpr double kGroupSamplingSeconds = 10;  // once a group has its five samples

// What one plan's runs saw, sample by sample.
struct PlanRuns {
  PlanKind plan = PlanKind::recompute;
  ChunkRange loaded;              // of each request
  Status status;                  // the first failure
  std::vector<Restore> restores;  // one a sample
  std::vector<Restore> drawn;     // one a draw of a simulated device's parameters
  bool enough = false;            // the interval got narrow enough
};

struct GroupRun {
  RequestBatch batch;
  std::uint64_t reach = 0;            // of each request, the tokens that the limits let through
  std::vector<CheckedChoice> copies;  // where the session's copies choose among paths
  Verification verification;
  std::vector<PlanRuns> plans;  // in the order asked for
};

Result<GroupRun> run_group(Session& session, const GridPoint& point,
                           const std::vector<PlanKind>& plans, const Draws& draws,
                           std::uint64_t seed);

// A short prefill, so that the first sample does not pay for first touches of weights and code.
Status warm_up(Session& session);

}  // namespace kvroof
