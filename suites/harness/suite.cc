// SPDX-License-Identifier: Apache-2.0
#include "suites/harness/suite.h"

namespace kvroof {

GroupPlan Suite::plan(const ComparisonGroup& group) {
  GroupPlan made;
  for (const PlanKind plan : group.plans) {
    made.cases.push_back({.plan = std::string(name(plan)), .reason = {}, .counted = false});
  }
  return made;
}

}  // namespace kvroof
