// SPDX-License-Identifier: Apache-2.0
#include "suites/harness/wrap.h"

#include <gtest/gtest.h>

namespace kvroof {
namespace {

TEST(Wrap, BreaksAtTheLastSpaceThatFits) {
  EXPECT_EQ(wrap("one two three", 2, 7), "one two\n  three");
  EXPECT_EQ(wrap("one two three", 2, 8), "one two\n  three");
  EXPECT_EQ(wrap("one two three", 0, 80), "one two three");
}

TEST(Wrap, LeavesALongWordWhole) {
  EXPECT_EQ(wrap("a longer_than b", 1, 6), "a\n longer_than\n b");
}

TEST(Wrap, NothingIsNothing) { EXPECT_EQ(wrap(""), ""); }

}  // namespace
}  // namespace kvroof
