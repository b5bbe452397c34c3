// SPDX-License-Identifier: Apache-2.0
#include "backends/sim/link_option.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "backends/sim/test_profile.h"

namespace kvroof::sim {
namespace {

Profile made_up() { return *parse_profile(test_profile()); }

// The made-up link: 10 GB/s each way at any size, 16 both. Here with 3 us a copy beyond its bytes.
Profile with_fixed_cost() {
  Profile profile = made_up();
  profile.copy[0].in->points = {{1e6, 1e6 / (3e-6 + 1e6 / 10e9)}, {1e9, 1e9 / (3e-6 + 0.1)}};
  return profile;
}

TEST(LinkOption, ARateIsTakenAsItIs) {
  const auto profile = with_link(made_up(), "5GB/s");
  ASSERT_TRUE(profile.ok());
  EXPECT_EQ(profile->link.in.value, 5e9);
  EXPECT_EQ(profile->link.peak.value, 5e9);
  EXPECT_DOUBLE_EQ(profile->copy[0].in->at(2e6), 5e9);
  EXPECT_EQ(profile->link.total_dma.value, 8e9);  // 1.6 of one direction, as before
  EXPECT_EQ(profile->basis, made_up().basis);
  EXPECT_EQ(profile->link.state.generation, 0);
}

TEST(LinkOption, WhatACopyTakesBeyondItsBytesStays) {
  const auto profile = with_link(with_fixed_cost(), "2GB/s");
  ASSERT_TRUE(profile.ok());
  EXPECT_NEAR(1e6 / profile->copy[0].in->at(1e6), 3e-6 + 1e6 / 2e9, 1e-12);
}

TEST(LinkOption, PublishedRatesOfPcie) {
  struct {
    const char* text;
    double least, most;  // GB/s of large copies inward
  } rows[] = {{"pcie3x16", 11.6, 12.7}, {"pcie4x16", 24, 26.4}, {"pcie4x8", 12, 13.2},
              {"pcie5x16", 54.4, 55.6}, {"pcie6x16", 97, 109},  {"nvlink-c2c", 337, 380}};
  for (const auto& row : rows) {
    const auto profile = with_link(made_up(), row.text);
    ASSERT_TRUE(profile.ok()) << row.text;
    const LinkProfile& link = profile->link;
    EXPECT_GE(link.in.value, row.least * 1e9) << row.text;
    EXPECT_LE(link.in.value, row.most * 1e9) << row.text;
    EXPECT_LT(link.in.low, link.in.value);
    EXPECT_GT(link.in.high, link.in.value);
    EXPECT_LE(link.in.high, link.peak.value) << row.text;
    EXPECT_LE(link.out.high, link.peak.value) << row.text;
    EXPECT_LE(link.total_dma.value, link.in.value + link.out.value) << row.text;
    EXPECT_NE(link.in.source.find("https://"), std::string::npos);
  }
}

TEST(LinkOption, TheProfileInForceIsAProfile) {
  const auto profile = with_link(with_fixed_cost(), "pcie4x8");
  ASSERT_TRUE(profile.ok());
  const auto read = parse_profile(profile_text_with_link(test_profile(), *profile));
  ASSERT_TRUE(read.ok()) << read.status().text;
  EXPECT_EQ(read->link.in.value, profile->link.in.value);
  EXPECT_EQ(read->link.state.width, 8);
  EXPECT_EQ(read->copy[0].in->at(1e6), profile->copy[0].in->at(1e6));
  EXPECT_EQ(read->name, "a made-up device, link pcie4x8");
}

TEST(LinkOption, WhatIsNoLinkIsRefused) {
  for (const char* text : {"", "pcie", "pcie4", "pcie4x", "pcie4x3", "pcie4x32", "pcie7x16", "fast",
                           "pciex16", "5GB", "0GB/s", "-5GB/s", "1e999GB/s", "pcie4x16x2"}) {
    EXPECT_EQ(with_link(made_up(), text).code(), Code::invalid) << text;
  }
}

}  // namespace
}  // namespace kvroof::sim
