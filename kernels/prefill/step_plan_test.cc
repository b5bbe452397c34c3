// SPDX-License-Identifier: Apache-2.0
#include "kernels/prefill/step_plan.h"

#include <gtest/gtest.h>

#include <vector>

namespace kvroof {
namespace {

TEST(StepPlan, PacksInOrderAndCutsWhatIsTooLong) {
  std::vector<PrefillRequest> requests(3);
  requests[0].tokens = 3;
  requests[1].tokens = 6;
  requests[2].tokens = 3;
  const auto steps = plan_steps(requests, 4);  // AAAB BBBB BCCC
  ASSERT_EQ(steps.size(), 3u);
  ASSERT_EQ(steps[0].size(), 2u);
  EXPECT_EQ(steps[0][1].row, 3u);
  EXPECT_FALSE(steps[0][1].last);
  ASSERT_EQ(steps[1].size(), 1u);
  EXPECT_EQ(steps[1][0].first, 1u);
  EXPECT_EQ(steps[1][0].tokens, 4u);
  ASSERT_EQ(steps[2].size(), 2u);
  EXPECT_EQ(steps[2][0].first, 5u);
  EXPECT_TRUE(steps[2][0].last);
  EXPECT_EQ(rows_of(steps[2]), 4u);
}

}  // namespace
}  // namespace kvroof
