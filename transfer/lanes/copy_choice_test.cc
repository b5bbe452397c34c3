// SPDX-License-Identifier: Apache-2.0
#include "transfer/lanes/copy_choice.h"

#include <gtest/gtest.h>

namespace kvroof {
namespace {

constexpr Direction kOut = Direction::offload, kIn = Direction::load;

TEST(CopyChoice, OnePathIsTakenWhateverTheSize) {
  const CopyChoice choice = CopyPath::kernel;
  EXPECT_EQ(choice.choose(kIn, 1, 1), CopyPath::kernel);
  EXPECT_EQ(choice.choose(kOut, 1 << 30, 1 << 20), CopyPath::kernel);
  EXPECT_TRUE(choice.may_take(kOut, CopyPath::kernel));
  EXPECT_FALSE(choice.may_take(kOut, CopyPath::dma));
}

// Given out of order: the size decides, not the place in the list.
TEST(CopyChoice, TheLargestThresholdsThatAreReachedDecide) {
  const CopyChoice choice(std::vector<CopyRule>{{kIn, 65536, 0, CopyPath::batch},
                                                {kIn, 0, 100, CopyPath::staged},
                                                {kIn, 0, 0, CopyPath::kernel},
                                                {kIn, 65536, 1000, CopyPath::dma},
                                                {kOut, 0, 0, CopyPath::batch}});
  EXPECT_EQ(choice.choose(kIn, 4096, 99), CopyPath::kernel);
  EXPECT_EQ(choice.choose(kIn, 4096, 100), CopyPath::staged);
  EXPECT_EQ(choice.choose(kIn, 65535, 100000), CopyPath::staged);
  EXPECT_EQ(choice.choose(kIn, 65536, 100), CopyPath::batch);
  EXPECT_EQ(choice.choose(kIn, 1 << 20, 1000), CopyPath::dma);
  EXPECT_EQ(choice.choose(kOut, 4096, 100), CopyPath::batch);
}

TEST(CopyChoice, WithoutARuleItIsDma) {
  const CopyChoice choice(std::vector<CopyRule>{{kIn, 4096, 10, CopyPath::staged}});
  EXPECT_EQ(choice.choose(kIn, 4095, 10), CopyPath::dma);
  EXPECT_EQ(choice.choose(kIn, 4096, 9), CopyPath::dma);
  EXPECT_EQ(choice.choose(kOut, 4096, 10), CopyPath::dma);
  EXPECT_TRUE(choice.may_take(kIn, CopyPath::staged));
  EXPECT_FALSE(choice.may_take(kOut, CopyPath::staged));
}

}  // namespace
}  // namespace kvroof
