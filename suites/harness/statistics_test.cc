// SPDX-License-Identifier: Apache-2.0
#include "suites/harness/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace kvroof {
namespace {

using Values = std::vector<double>;

TEST(Median, IsTheMiddleOrTheMeanOfTheTwoMiddleOnes) {
  EXPECT_TRUE(std::isnan(median(Values{})));
  EXPECT_EQ(median(Values{7}), 7);
  EXPECT_EQ(median(Values{9, 1, 5}), 5);
  EXPECT_EQ(median(Values{8, 2, 4, 100}), 6);
}

TEST(MedianInterval, IsEmptyWhereItWouldSayNothing) {
  EXPECT_FALSE(median_interval(Values{}));
  EXPECT_FALSE(median_interval(Values{1}));
  EXPECT_FALSE(median_interval(Values{2, 2, 2, 2, 2}));
}

// A resample of 5 has the least sample as its median where 3 or more of its 5 draws hit it:
// sum over k >= 3 of C(5,k) 0.2^k 0.8^(5-k) = 0.0512 + 0.0064 + 0.0003 = 0.058, above 0.025. So the
// 2.5th percentile is the least sample, and by symmetry the 97.5th is the greatest.
TEST(MedianInterval, OfFiveSamplesIsTheirRange) {
  const auto bounds = median_interval(Values{30, 10, 50, 20, 40});
  ASSERT_TRUE(bounds);
  EXPECT_EQ(bounds->low, 10);
  EXPECT_EQ(bounds->high, 50);
}

// Of 7: the least is the median with 4 or more of 7 draws at 1/7: 0.0102, below 0.025. The two
// least together: sum over k >= 4 of C(7,k) (2/7)^k (5/7)^(7-k) = 0.120, above it. So: 2nd to 6th.
TEST(MedianInterval, OfSevenSamplesLeavesOutTheExtremes) {
  const auto bounds = median_interval(Values{1, 2, 3, 4, 5, 6, 7});
  ASSERT_TRUE(bounds);
  EXPECT_EQ(bounds->low, 2);
  EXPECT_EQ(bounds->high, 6);
}

TEST(MedianInterval, DependsOnTheSeedAlone) {
  Values values;
  for (int i = 0; i < 40; ++i) values.push_back(std::sin(i * 1.7));
  const auto one = median_interval(values, 3), again = median_interval(values, 3);
  ASSERT_TRUE(one && again);
  EXPECT_EQ(one->low, again->low);
  EXPECT_EQ(one->high, again->high);
  EXPECT_LT(one->low, median(values));
  EXPECT_GT(one->high, median(values));
}

// A denominator that hardly varies leaves the numerator's interval, divided: [10, 50] / 2.
TEST(RatioInterval, ComesFromBothSides) {
  const Values top = {10, 20, 30, 40, 50}, bottom = {2, 2, 2, 2, 2};
  const auto bounds = ratio_interval(top, bottom);
  ASSERT_TRUE(bounds);
  EXPECT_EQ(bounds->low, 5);
  EXPECT_EQ(bounds->high, 25);
}

// With both sides as wide as each other the ratio is wider than either: its 2.5th percentile lies
// below 30/50 (numerator at its median) and its 97.5th above 30/10.
TEST(RatioInterval, IsWiderThanEitherSide) {
  const Values side = {10, 20, 30, 40, 50};
  const auto bounds = ratio_interval(side, side);
  ASSERT_TRUE(bounds);
  EXPECT_LT(bounds->low, 0.6);
  EXPECT_GT(bounds->high, 1 / 0.6);
}

TEST(RatioInterval, IsEmptyWhereItWouldSayNothing) {
  EXPECT_FALSE(ratio_interval(Values{1, 2}, Values{1}));
  EXPECT_FALSE(ratio_interval(Values{}, Values{1, 2}));
  EXPECT_FALSE(ratio_interval(Values{1, 2}, Values{0, 1}));
  EXPECT_FALSE(ratio_interval(Values{4, 4}, Values{2, 2}));
}

TEST(RelativeHalfWidth, IsHalfTheWidthOverTheMiddle) {
  EXPECT_DOUBLE_EQ(relative_half_width({9, 11}, 10), 0.1);
  EXPECT_DOUBLE_EQ(relative_half_width({-11, -9}, -10), 0.1);
  EXPECT_TRUE(std::isinf(relative_half_width({-1, 1}, 0)));
}

}  // namespace
}  // namespace kvroof
