// SPDX-License-Identifier: Apache-2.0
// Suite `ttft`: how long until the first token, when a prefix is recomputed and when it is copied
// back from the host tier?
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backends/api/device.h"
#include "kernels/model/model_shape.h"
#include "suites/harness/grid.h"
#include "suites/harness/record.h"
#include "suites/harness/suite.h"
#include "suites/serving/ceilings.h"
#include "suites/serving/copy_calibration.h"
#include "suites/serving/session.h"
#include "suites/ttft/group_run.h"

namespace kvroof {

struct TtftOptions {
  std::string_view name = "ttft";  // of the suite, in its cases
  // False: on a simulated device no case moves data, and none is verified.
  bool moves_data = true;
};

class TtftSuite : public Suite {
 public:
  // A real device gets one cache for those of the setup's groups that have equal blocks.
  explicit TtftSuite(SuiteSetup setup, TtftOptions options = {});

  // Verifies, samples, and returns one case a plan, in the group's order.
  std::vector<Case> run(const ComparisonGroup& group) override;

  GroupPlan plan(const ComparisonGroup& group) override;

 private:
  static std::string why_not(const GridPoint& point, PlanKind plan);
  SessionSpec own_spec(const GridPoint& point) const;
  SessionSpec shared_spec(const GridPoint& point) const;
  std::uint64_t bytes_of_requests(const GridPoint& point) const;
  // Or why every plan of the group is skipped.
  Status group_can_run(const GridPoint& point) const;
  std::uint32_t regions_per_chunk(const GridPoint& point) const;
  CopyChoice copy_choice(const GridPoint& point) const;
  Status calibrate(const GridPoint& point);
  Status prepare(const GridPoint& point, const Ceilings& roofs);
  Result<Ceilings> ceilings(DType dtype);
  std::vector<Case> measure(const ComparisonGroup& group, const std::vector<PlanKind>& plans);
  void add_copy_auto(const GridPoint& point, const GroupRun& run, std::vector<Case>& cases) const;
  Case skipped(const GridPoint& point, PlanKind plan, const Status& why) const;
  Case blank(const GridPoint& point, PlanKind plan) const;

  SuiteSetup setup_;
  TtftOptions options_;
  std::unique_ptr<Session> session_;
  std::map<DType, Ceilings> ceilings_;
  std::map<std::uint32_t, CopyCalibration> calibrations_;  // of copy auto, by regions_per_chunk()
};

}  // namespace kvroof
