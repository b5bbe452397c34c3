// SPDX-License-Identifier: Apache-2.0
#include "transfer/lanes/lane.h"

#include <gtest/gtest.h>

#include <utility>

#include "backends/conformance/null_device.h"
#include "backends/faults/faulty_device.h"

namespace kvroof {
namespace {

constexpr std::uint64_t kChunk = 1024;

// On the null device a ticket has completed as soon as it is submitted, but is open until reaped.
struct LaneTest : testing::Test {
  void open(Faults faults, std::uint64_t bytes_in_flight = 2 * kChunk) {
    device = std::make_unique<FaultyDevice>(make_null_device(), std::move(faults));
    cache = std::move(*device->allocate({.kind = MemoryKind::device, .bytes = 8 * kChunk}));
    host = std::move(*device->allocate({.kind = MemoryKind::pinned, .bytes = 8 * kChunk}));
    const LaneConfig config{.kind = QueueKind::copy_out,
                            .ops = true,
                            .most_open = open_copies(kChunk, bytes_in_flight)};
    lane.emplace(std::move(*Lane::create(*device, config)));
  }

  // Submits the lane's next copy as so many regions, in steps of at most `each`.
  Status submit(std::uint32_t count, std::uint32_t each = 100) {
    const std::vector<Region> all = regions(count);
    std::vector<CopyStep> steps;
    for (std::uint32_t at = 0; at < count; at += each) {
      const auto part = std::span(all).subspan(at, std::min(each, count - at));
      steps.push_back({.body = Regions{.list = part}});
    }
    return lane->submit({}, steps);
  }

  std::vector<Region> regions(std::uint32_t count) const {
    std::vector<Region> list;
    for (std::uint64_t i = 0; i < count; ++i) {
      list.push_back({{cache.get(), i * 64, 64}, {host.get(), i * 64, 64}});
    }
    return list;
  }

  std::vector<LandedCopy> reap() {
    std::vector<LandedCopy> landed;
    EXPECT_TRUE(lane->reap(landed).ok());
    return landed;
  }

  void push(std::uint32_t copies) {
    for (std::uint32_t i = 0; i < copies; ++i) lane->push({.transfer = 0, .chunk = i, .slot = i});
  }

  std::unique_ptr<FaultyDevice> device;
  std::unique_ptr<Buffer> cache, host;
  std::optional<Lane> lane;
};

TEST_F(LaneTest, CopiesComeBackInOrderWithWhatTheyWere) {
  open({});
  push(2);
  EXPECT_EQ(lane->next()->slot, 0u);
  EXPECT_TRUE(submit(3).ok());
  EXPECT_EQ(lane->next()->slot, 1u);
  EXPECT_TRUE(submit(1).ok());
  EXPECT_EQ(lane->next(), nullptr);
  const auto landed = reap();
  ASSERT_EQ(landed.size(), 2u);
  EXPECT_EQ(landed[0].copy.chunk, 0u);
  EXPECT_EQ(landed[0].regions, 3u);
  EXPECT_EQ(landed[1].copy.chunk, 1u);
  EXPECT_TRUE(landed[1].status.ok());
  EXPECT_LE(landed[0].interval.begin, landed[0].interval.end);
}

TEST_F(LaneTest, BytesInFlightAreBounded) {
  open({}, 3 * kChunk + 1);
  push(5);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(submit(1).ok());
  EXPECT_EQ(lane->next(), nullptr);
  EXPECT_EQ(reap().size(), 3u);
  EXPECT_NE(lane->next(), nullptr);
}

TEST_F(LaneTest, TwoCopiesAreAlwaysAllowed) {
  open({}, 1);
  push(3);
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(submit(1).ok());
  EXPECT_EQ(lane->next(), nullptr);
}

TEST_F(LaneTest, ACopyOfSeveralStepsLandsWhenAllOfThemHave) {
  open({.max_open_tickets = 2});
  push(1);
  EXPECT_EQ(submit(5, 2).code, Code::busy);  // steps 1 and 2 are open, 3 is not
  EXPECT_EQ(lane->state(1), Lane::State::waiting);
  EXPECT_TRUE(reap().empty());
  ASSERT_NE(lane->next(), nullptr);
  EXPECT_TRUE(submit(5, 2).ok());
  EXPECT_EQ(lane->state(1), Lane::State::open);
  EXPECT_EQ(lane->point(1)->ticket, 3u);
  const auto landed = reap();
  ASSERT_EQ(landed.size(), 1u);
  EXPECT_EQ(landed[0].regions, 5u);
  EXPECT_EQ(lane->state(1), Lane::State::landed);
}

TEST_F(LaneTest, OneFailedStepFailsTheCopyAndTheRestDoesNotRun) {
  open({.fails = [](QueueKind, Ticket ticket) { return ticket == 2; }});
  push(2);
  ASSERT_TRUE(submit(6, 2).ok());
  ASSERT_TRUE(submit(1).ok());
  const auto landed = reap();
  ASSERT_EQ(landed.size(), 2u);
  EXPECT_EQ(landed[0].status.code, Code::failed);
  EXPECT_TRUE(landed[1].status.ok());
  EXPECT_EQ(lane->state(1), Lane::State::failed);
  EXPECT_EQ(lane->state(2), Lane::State::landed);
}

// Whoever waits for a copy waits for its last step: that must not pass when an earlier one failed.
TEST_F(LaneTest, WhatIsFencedOnACopyIsAbortedByAnyFailedStep) {
  open({.fails = [](QueueKind, Ticket ticket) { return ticket == 1; }});
  push(1);
  ASSERT_TRUE(submit(6, 2).ok());
  device->faults.fails = nullptr;
  auto queue = std::move(*device->open_queue(QueueKind::compute, Priority::normal));
  const Point copied = *lane->point(1);
  ASSERT_TRUE(queue->submit({.fences = {&copied, 1}, .body = Fill{{cache.get(), 0, 64}}}).ok());
  Completion completion;
  ASSERT_EQ(*queue->reap({&completion, 1}), 1u);
  EXPECT_EQ(completion.status.code, Code::aborted);
}

TEST_F(LaneTest, BusyKeepsTheCopyWaiting) {
  open({.max_open_tickets = 1}, 8 * kChunk);
  push(2);
  ASSERT_TRUE(submit(1).ok());
  EXPECT_EQ(submit(1).code, Code::busy);
  EXPECT_EQ(lane->state(2), Lane::State::waiting);
  EXPECT_EQ(reap().size(), 1u);
  EXPECT_TRUE(submit(1).ok());
  EXPECT_EQ(reap().size(), 1u);
}

TEST_F(LaneTest, ACopyThatCannotBeSubmittedEndsInItsTurn) {
  open({});
  push(3);
  ASSERT_TRUE(submit(1).ok());
  const Region outside{{cache.get(), 8 * kChunk, 64}, {host.get(), 0, 64}};
  const CopyStep step{.body = Regions{.list = {&outside, 1}}};
  EXPECT_EQ(lane->submit({}, {&step, 1}).code, Code::invalid);
  EXPECT_EQ(lane->state(2), Lane::State::failed);
  const auto landed = reap();
  ASSERT_EQ(landed.size(), 2u);
  EXPECT_TRUE(landed[0].status.ok());
  EXPECT_EQ(landed[1].status.code, Code::invalid);
  EXPECT_EQ(landed[1].regions, 0u);
}

TEST_F(LaneTest, AFailureWithoutATicketIsHandedBack) {
  open({});
  push(1);
  lane->fail_next({Code::aborted, "No."});
  EXPECT_TRUE(lane->has_ended());
  std::vector<Point> points;
  lane->add_oldest_open(points);
  EXPECT_TRUE(points.empty());
  EXPECT_FALSE(lane->point(1));
  const auto landed = reap();
  ASSERT_EQ(landed.size(), 1u);
  EXPECT_EQ(landed[0].status.code, Code::aborted);
  EXPECT_FALSE(lane->has_ended());
}

// A staged offload: what follows a gather that failed is aborted, and the copy says why.
struct StagedLaneTest : LaneTest {
  Status submit_staged() {
    const auto part = regions(1);
    const Region& region = part[0];
    const Gather gather{region.source, {host.get(), 0, 4}, {cache.get(), kChunk, 64}, 1, 64};
    const std::vector<CopyStep> steps = {
        {.station = Station::ops, .body = Op(gather)},
        {.touches_cache = false, .body = Regions{.list = part}},
    };
    return lane->submit({}, steps);
  }

  void push_staged(std::uint32_t copies) {
    for (std::uint32_t i = 0; i < copies; ++i) lane->push({.chunk = i, .path = CopyPath::staged});
  }
};

TEST_F(StagedLaneTest, TheCacheIsLetGoByTheGatherAndTheCopyLandsLater) {
  open({.max_open_tickets = 1});
  push_staged(2);
  ASSERT_TRUE(submit_staged().ok());
  ASSERT_TRUE(lane->point(1));
  EXPECT_NE(lane->point(1)->queue->kind(), QueueKind::copy_out);
  std::vector<Point> points;
  lane->add_oldest_open(points);
  EXPECT_EQ(points.size(), 2u);
  const auto landed = reap();
  ASSERT_EQ(landed.size(), 1u);
  EXPECT_TRUE(landed[0].status.ok());
  EXPECT_EQ(landed[0].regions, 1u);
  EXPECT_FALSE(lane->point(1));
}

TEST_F(StagedLaneTest, AFailedGatherFailsTheCopyAndSaysWhy) {
  open({.fails_op = [failed = false](const Op&) mutable { return !std::exchange(failed, true); }});
  push_staged(2);
  ASSERT_TRUE(submit_staged().ok());
  ASSERT_TRUE(submit_staged().ok());
  const auto landed = reap();
  ASSERT_EQ(landed.size(), 2u);
  EXPECT_EQ(landed[0].status.code, Code::failed);
  EXPECT_TRUE(landed[1].status.ok());
}

// The copy queue is reaped first: then neither copy has ended, and each outcome must find its own.
TEST_F(StagedLaneTest, TheOutcomeOfALaterCopyIsNotAnEarliersOne) {
  open({.fails_op = [first = true](const Op&) mutable { return !std::exchange(first, false); }});
  push_staged(2);
  ASSERT_TRUE(submit_staged().ok());
  ASSERT_TRUE(submit_staged().ok());
  const auto landed = reap();
  ASSERT_EQ(landed.size(), 2u);
  EXPECT_TRUE(landed[0].status.ok());
  EXPECT_EQ(landed[1].status.code, Code::failed);
}

TEST_F(StagedLaneTest, BusyBetweenTheStepsGoesOnWhereItStopped) {
  open({.max_open_tickets = 1}, 8 * kChunk);
  push(1);
  push_staged(1);
  ASSERT_TRUE(submit(1).ok());
  ASSERT_EQ(lane->next(), nullptr);  // it touches the cache at another station than the first
  EXPECT_EQ(reap().size(), 1u);
  EXPECT_FALSE(lane->next_is_begun());
  ASSERT_TRUE(submit_staged().ok());
  push_staged(1);
  EXPECT_EQ(submit_staged().code, Code::busy);  // the gather already
  EXPECT_TRUE(lane->next_is_begun());
  EXPECT_EQ(reap().size(), 1u);
  EXPECT_TRUE(submit_staged().ok());
  EXPECT_EQ(reap().size(), 1u);
}

TEST_F(StagedLaneTest, PlacesGoRoundAmongTheOpenCopies) {
  open({}, 3 * kChunk);
  push_staged(5);
  for (std::uint64_t place : {0, 1, 2}) {
    EXPECT_EQ(lane->next_place(), place);
    ASSERT_TRUE(submit_staged().ok());
  }
  EXPECT_EQ(lane->next(), nullptr);
  EXPECT_EQ(reap().size(), 3u);
  EXPECT_EQ(lane->next_place(), 0u);
}

// A copy of blocks that an open one still reads may fail before it has a ticket. Whoever waits for
// the last copy of a block must wait for both.
TEST_F(LaneTest, ACopyThatNeverRanStandsForThoseBeforeIt) {
  open({});
  push(2);
  ASSERT_TRUE(submit(1).ok());
  lane->fail_next({Code::aborted, "No."});
  ASSERT_TRUE(lane->point(2));
  EXPECT_EQ(lane->point(2)->ticket, lane->point(1)->ticket);
}

// More copies than the ring starts with, over and over: numbers and copies stay together.
TEST_F(LaneTest, LongBacklogsKeepTheirOrder) {
  open({}, 5 * kChunk);
  push(100);
  std::uint32_t expected = 0;
  while (expected < 100) {
    while (lane->next() != nullptr) ASSERT_TRUE(submit(1).ok());
    for (const LandedCopy& landed : reap()) {
      EXPECT_EQ(landed.copy.chunk, expected);
      EXPECT_EQ(landed.number, ++expected);
    }
  }
}

}  // namespace
}  // namespace kvroof
