// SPDX-License-Identifier: Apache-2.0
#include "backends/sim/draw.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "backends/sim/test_profile.h"

namespace kvroof::sim {
namespace {

Profile wide() {
  Profile profile = *parse_profile(test_profile());
  profile.link.in.low = 8e9;
  profile.derates.gemm.high = 1.2;
  profile.copy[0].in->low = 0.5;
  profile.copy[0].in->high = 1.5;
  return profile;
}

TEST(Draw, SeedZeroIsTheProfileAsItIs) {
  const Profile nominal = wide(), drawn = draw(nominal, 0);
  EXPECT_EQ(drawn.link.in.value, nominal.link.in.value);
  EXPECT_EQ(drawn.copy[0].in->points[0].y, nominal.copy[0].in->points[0].y);
}

TEST(Draw, RepeatsBySeedAndStaysBetweenLowAndHigh) {
  const Profile nominal = wide();
  std::vector<double> rates, factors, derates;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    const Profile drawn = draw(nominal, seed), again = draw(nominal, seed);
    EXPECT_EQ(drawn.link.in.value, again.link.in.value);
    rates.push_back(drawn.link.in.value);
    derates.push_back(drawn.derates.gemm.value);
    factors.push_back(drawn.copy[0].in->points[0].y / nominal.copy[0].in->points[0].y);
  }
  const auto expect_fills = [](std::vector<double> drawn, double low, double high) {
    const auto [least, most] = std::minmax_element(drawn.begin(), drawn.end());
    EXPECT_GE(*least, low);
    EXPECT_LE(*most, high);
    EXPECT_LT(*least, low + 0.05 * (high - low));
    EXPECT_GT(*most, high - 0.05 * (high - low));
  };
  expect_fills(rates, 8e9, 10e9);
  expect_fills(derates, 1, 1.2);
  expect_fills(factors, 0.5, 1.5);
}

TEST(Draw, WhatNoDurationDependsOnStays) {
  Profile nominal = wide();
  nominal.memory_bytes.low = 1;
  nominal.link.peak.high = 1e12;
  const Profile drawn = draw(nominal, 7);
  EXPECT_EQ(drawn.memory_bytes.value, nominal.memory_bytes.value);
  EXPECT_EQ(drawn.link.peak.value, nominal.link.peak.value);
  EXPECT_EQ(drawn.basis, nominal.basis);
}

}  // namespace
}  // namespace kvroof::sim
