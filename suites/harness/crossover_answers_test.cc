// SPDX-License-Identifier: Apache-2.0
#include "suites/harness/crossover_answers.h"

#include <gtest/gtest.h>

#include "suites/harness/grid.h"

namespace kvroof {
namespace {

struct Point {
  std::uint64_t context = 0;
  double speedup = 0;
  Bounds ci95;
};

// By the margins of kMargins: 1, 1.1 and 2.
std::vector<Answer> answers_of(const std::vector<Point>& points) {
  std::vector<Case> cases;
  for (const Point& point : points) {
    Case& one = cases.emplace_back();
    one.params = case_params({.context_tokens = point.context}, PlanKind::copy);
    Metric speedup = modelled_metric("ratio", point.speedup);
    speedup.ci95 = point.ci95;
    one.metrics = {{"speedup", speedup}};
  }
  return crossovers(cases);
}

TEST(Crossovers, TheSmallestContextFromWhichTheMarginHolds) {
  const auto answers =
      answers_of({{4096, 2.5, {2.4, 2.6}}, {1024, 0.9, {0.8, 0.95}}, {2048, 1.5, {1.4, 1.6}}});
  ASSERT_EQ(answers.size(), 3u);
  constexpr double kFrom[] = {2048, 2048, 4096};
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(answers[i].verdict, Verdict::found);
    EXPECT_EQ(answers[i].context_tokens, kFrom[i]);
  }
}

TEST(Crossovers, EveryContextOrNone) {
  const auto answers = answers_of({{1024, 1.3, {1.2, 1.4}}, {2048, 1.4, {1.3, 1.5}}});
  EXPECT_EQ(answers[0].verdict, Verdict::below_smallest);
  EXPECT_EQ(answers[0].context_tokens, 1024);
  EXPECT_EQ(answers[2].verdict, Verdict::none_in_range);
  EXPECT_EQ(answers[2].context_tokens, std::nullopt);
}

// 1.1 lies within 1.05 to 1.3 where it is reached first.
TEST(Crossovers, AMarginWithinTheIntervalIsNotDecided) {
  const auto answers = answers_of({{1024, 0.8, {0.7, 0.9}}, {2048, 1.2, {1.05, 1.3}}});
  EXPECT_EQ(answers[0].verdict, Verdict::found);
  EXPECT_EQ(answers[1].verdict, Verdict::inside_interval);
  EXPECT_EQ(answers[1].context_tokens, 2048);
}

// 1.05 misses 1.1 and 2, and may be 1.2: of those 1.1 alone.
TEST(Crossovers, NorIsOneThatIsMissedWithinTheIntervalOfTheLargest) {
  const auto answers = answers_of({{1024, 0.8, {0.7, 1.5}}, {2048, 1.05, {1.02, 1.2}}});
  EXPECT_EQ(answers[0].verdict, Verdict::found);
  EXPECT_EQ(answers[1].verdict, Verdict::inside_interval);
  EXPECT_EQ(answers[1].context_tokens, 2048);
  EXPECT_EQ(answers[1].ci95.has_value(), false);
  EXPECT_EQ(answers[2].verdict, Verdict::none_in_range);
}

// As near as that, but the interval ends at the margin.
TEST(Crossovers, AnIntervalThatOnlyTouchesTheMarginDecides) {
  const auto answers = answers_of({{1024, 1.05, {1.02, 1.1}}});
  EXPECT_EQ(answers[1].verdict, Verdict::none_in_range);
}

}  // namespace
}  // namespace kvroof
