// SPDX-License-Identifier: Apache-2.0
#include "backends/queues/ticket_ranges.h"

#include <gtest/gtest.h>

namespace kvroof::queues {
namespace {

TEST(TicketRanges, KeepsRunsAndAnswersInsideBetweenAndOutside) {
  TicketRanges ranges;
  for (Ticket ticket : {3, 4, 5, 9}) ranges.append(ticket);
  for (Ticket in : {3, 4, 5, 9}) EXPECT_TRUE(ranges.contains(in)) << in;
  for (Ticket out : {1, 2, 6, 8, 10}) EXPECT_FALSE(ranges.contains(out)) << out;
  EXPECT_EQ(ranges.runs(), 2u);
}

TEST(TicketRanges, ALaneThatOnlyFailsStaysOneRun) {
  TicketRanges ranges;
  for (Ticket ticket = 1; ticket <= 100000; ++ticket) ranges.append(ticket);
  EXPECT_EQ(ranges.runs(), 1u);
  EXPECT_TRUE(ranges.contains(54321));
}

}  // namespace
}  // namespace kvroof::queues
