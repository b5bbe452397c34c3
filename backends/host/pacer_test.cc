// SPDX-License-Identifier: Apache-2.0
#include "backends/host/pacer.h"

#include <gtest/gtest.h>

namespace kvroof::host {
namespace {

constexpr double kRate = 1e9;  // a byte takes a nanosecond

TEST(Pacer, AnIdleLinkCountsFromNow) {
  Pacer pacer(kRate);
  EXPECT_EQ(pacer.deadline(Nanos(1000), Nanos(1060), 100), Nanos(1160));
  EXPECT_EQ(pacer.deadline(Nanos(2000), Nanos(2060), 100), Nanos(2160));
}

TEST(Pacer, WhatIsReadyInTimeFollowsWithoutAGap) {
  Pacer pacer(kRate);
  EXPECT_EQ(pacer.deadline(Nanos(1000), Nanos(1000), 100), Nanos(1100));
  // The lane woke 60 ns late: the link has been at the second since 1100.
  EXPECT_EQ(pacer.deadline(Nanos(1000), Nanos(1160), 100), Nanos(1200));
  EXPECT_EQ(pacer.deadline(Nanos(1199), Nanos(1260), 100), Nanos(1300));
}

TEST(Pacer, WhatBecomesReadyAfterTheLastHasLandedStartsAnew) {
  Pacer pacer(kRate);
  EXPECT_EQ(pacer.deadline(Nanos(1000), Nanos(1000), 100), Nanos(1100));
  EXPECT_EQ(pacer.deadline(Nanos(1100), Nanos(1160), 100), Nanos(1260));
}

TEST(Pacer, LanesOfOneDirectionShareTheRate) {
  Pacer pacer(kRate);
  EXPECT_EQ(pacer.deadline(Nanos(100), Nanos(100), 1000), Nanos(1100));
  EXPECT_EQ(pacer.deadline(Nanos(200), Nanos(200), 1000), Nanos(2100));
}

TEST(Pacer, ManySmallOnesTakeAsLongAsOneLarge) {
  Pacer pacer(kRate);
  Nanos last{};
  for (int i = 0; i < 1000; ++i) last = pacer.deadline(Nanos(0), last + Nanos(50), 100);
  EXPECT_EQ(last, Nanos(50 + 1000 * 100));
}

}  // namespace
}  // namespace kvroof::host
