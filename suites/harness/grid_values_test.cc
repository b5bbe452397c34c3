// SPDX-License-Identifier: Apache-2.0
#include "suites/harness/grid_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kvroof {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::uint64_t kLimit = 16 << 20;

std::vector<std::uint64_t> counts(std::string_view text) {
  const auto values = parse_counts(text, 1, kLimit);
  EXPECT_TRUE(values.ok()) << values.status().text;
  return values.ok() ? *values : std::vector<std::uint64_t>{};
}

std::string refused(std::string_view text) { return parse_counts(text, 1, kLimit).status().text; }

TEST(Counts, KnowKAndM) {
  EXPECT_THAT(counts("1,256,1k,10K,1M"), ElementsAre(1, 256, 1024, 10240, 1 << 20));
  EXPECT_THAT(counts("16M"), ElementsAre(kLimit));
}

TEST(Counts, RefuseWhatIsNoPositiveWholeNumber) {
  for (const std::string_view text : {"",
                                      ",",
                                      "1,",
                                      ",1",
                                      "0",
                                      "-1",
                                      "+1",
                                      "1.5",
                                      "1k5",
                                      "k",
                                      " 1",
                                      "1 ",
                                      "0x10",
                                      "1e3",
                                      "1kk",
                                      "17M",
                                      "16777217",
                                      "18446744073709551616",
                                      "18014398509481984k",
                                      "1;2"}) {
    EXPECT_THAT(refused(text), HasSubstr("not a whole number from 1 to 16777216")) << text;
  }
}

TEST(Counts, AllowZeroOnlyWhereTheAxisDoes) {
  EXPECT_EQ(*parse_count("0", 0, 8), 0);
  EXPECT_FALSE(parse_count("0", 1, 8).ok());
  EXPECT_FALSE(parse_count("9", 0, 8).ok());
}

TEST(Counts, GoOnWithTheStepOfTheTwoBefore) {
  EXPECT_THAT(counts("10k,20k,…,50k"), ElementsAre(10240, 20480, 30720, 40960, 51200));
  EXPECT_THAT(counts("1k,10k,20k,...,40k"), ElementsAre(1024, 10240, 20480, 30720, 40960));
  EXPECT_THAT(counts("1,2,...,4,8,12,...,20"), ElementsAre(1, 2, 3, 4, 8, 12, 16, 20));
}

TEST(Counts, RefuseRangesThatDoNotWorkOut) {
  EXPECT_THAT(refused("10k,...,100k"), HasSubstr("needs two values before it"));
  EXPECT_THAT(refused("...,100k"), HasSubstr("needs two values before it"));
  EXPECT_THAT(refused("1,2,..."), HasSubstr("needs a last value after it"));
  EXPECT_THAT(refused("1,2,...,...,9"), HasSubstr("'...' is not a whole number"));
  EXPECT_THAT(refused("10,20,...,35"), HasSubstr("cannot get from 20 to 35"));
  EXPECT_THAT(refused("20,10,...,5"), HasSubstr("cannot get from 10 to 5"));
  EXPECT_THAT(refused("10,20,...,20"), HasSubstr("cannot get from 20 to 20"));
  EXPECT_THAT(refused("7,7,...,70"), HasSubstr("cannot get from 7 to 70"));
  EXPECT_THAT(refused("1,2,...,16M"), HasSubstr("more than 100000 values"));
}

TEST(Counts, RefuseAValueTwice) { EXPECT_EQ(refused("2,1k,1024"), "1024 is given twice"); }

TEST(Bytes, AreANumberOrHaveAUnit) {
  EXPECT_EQ(*parse_bytes("1"), 1u);
  EXPECT_EQ(*parse_bytes("16GiB"), 16ull << 30);
  EXPECT_EQ(*parse_bytes("1.5GB"), 1'500'000'000u);
  for (const std::string_view text :
       {"", "0", "0GB", "-1", "GiB", "1 GiB", "16G", "1.5", "1e9", "16GB/s", "nan", "1e30GB"}) {
    EXPECT_FALSE(parse_bytes(text).ok()) << text;
  }
}

TEST(Link, IsNativePcieOrARate) {
  for (const std::string_view text :
       {"native", "nvlink-c2c", "pcie4x16", "pcie5x8", "20GB/s", "512MiB/s"}) {
    EXPECT_TRUE(parse_link(text).ok()) << text;
  }
  for (const std::string_view text : {"", "pcie", "pcie4", "pcie4x", "pcie4x3", "pcie0x16",
                                      "pcie9x16", "pcie4x16x2", "20GB", "/s", "0GB/s", "Native"}) {
    EXPECT_FALSE(parse_link(text).ok()) << text;
  }
}

TEST(InQuotes, IsShortAndPrintable) {
  EXPECT_EQ(in_quotes("a\nb\x01"), "'a?b?'");
  EXPECT_EQ(in_quotes(std::string(1000, 'x')).size(), 45);
}

}  // namespace
}  // namespace kvroof
