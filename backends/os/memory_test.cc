// SPDX-License-Identifier: Apache-2.0
#include "backends/os/memory.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace kvroof::os {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;

TEST(Budget, RefusesWhatExceedsItAndTakesItBack) {
  Budget budget(100);
  EXPECT_TRUE(budget.take(60));
  EXPECT_FALSE(budget.take(41));
  EXPECT_TRUE(budget.take(40));
  budget.give(60);
  EXPECT_EQ(budget.left(), 60u);
  EXPECT_FALSE(budget.take(UINT64_MAX));
}

TEST(Mapping, IsZeroedWritableAndAlignedToHugePages) {
  auto mapping = Mapping::create(3 * kMiB, -1);
  ASSERT_TRUE(mapping) << mapping.status().text;
  std::byte* data = (*mapping)->data();
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(data) % kHugePageBytes, 0u);
  EXPECT_TRUE(std::all_of(data, data + 3 * kMiB, [](std::byte b) { return b == std::byte{0}; }));
  data[3 * kMiB - 1] = std::byte{1};
  EXPECT_NE(page_bytes_of(data), 0u);
}

TEST(OneNode, IsTheNodeOfAllPagesOrNone) {
  EXPECT_EQ(one_node(1, [](std::uint64_t) { return 1; }), 1);
  EXPECT_EQ(one_node(64 * kMiB, [](std::uint64_t) { return 1; }), 1);
  EXPECT_EQ(one_node(64 * kMiB, [](std::uint64_t at) { return at == 64 * kMiB - 1 ? 1 : 0; }), -1);
  EXPECT_EQ(one_node(64 * kMiB, [](std::uint64_t at) { return at == 0 ? 1 : 0; }), -1);
  EXPECT_EQ(one_node(64 * kMiB, [](std::uint64_t at) { return at / (2 * kMiB) == 9 ? 1 : 0; }), -1);
  EXPECT_EQ(one_node(64 * kMiB, [](std::uint64_t) { return -1; }), -1);
}

TEST(Mapping, LiesOnTheNodeThatItWasAskedFor) {
  auto mapping = Mapping::create(3 * kMiB, 0);
  ASSERT_TRUE(mapping) << mapping.status().text;
  const int node = node_of((*mapping)->data(), 3 * kMiB);
  EXPECT_TRUE(node == 0 || node == -1) << node;  // -1: a kernel that does not tell
}

TEST(MappingDeathTest, AnOverrunFaults) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  auto mapping = Mapping::create(4096, -1);
  ASSERT_TRUE(mapping);
  volatile std::byte* past = (*mapping)->data() + 4096;
  EXPECT_DEATH(*past = std::byte{1}, "");
}

}  // namespace
}  // namespace kvroof::os
