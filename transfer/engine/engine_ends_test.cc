// SPDX-License-Identifier: Apache-2.0
// How transfers end early: cancelled, too late, or on a lane where a copy never ends; and the
// estimates by which a caller decides not to wait at all.
#include <gtest/gtest.h>

#include "transfer/testing/test_rig.h"

namespace kvroof {
namespace {

constexpr Gate kGate = 7;
constexpr Nanos kMillisecond{1'000'000};

// Four chunks whose blocks are written behind a closed gate: of their copies two are handed to the
// device, and two wait.
struct Held {
  explicit Held(Rig& rig, Nanos deadline = Nanos::max()) {
    rig.hold(kGate);
    rig.engine->note_write(range(0, 8), rig.fill(range(0, 8), 5));
    id = *rig.engine->offload(keys(0, 4), range(0, 8), {.deadline = deadline});
  }
  TransferId id;
};

TEST(EngineEnds, OfACancelledOffloadWhatTheDeviceHasStillRuns) {
  Rig rig({.tier_chunks = 4, .lane_chunks = 2});
  const Held held(rig);
  EXPECT_TRUE(rig.engine->cancel(held.id).ok());
  EXPECT_TRUE(rig.engine->take_results().empty());
  EXPECT_TRUE(rig.engine->fences_for_write(range(4, 4)).ok());  // nothing waits for these any more
  EXPECT_EQ(rig.device.open_gate(kGate).code, Code::ok);
  const auto result = rig.engine->wait(held.id, Nanos::max());
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->status.code, Code::aborted);
  EXPECT_EQ(result->failed_chunks, 2u);
  EXPECT_EQ(rig.engine->lookup(keys(0, 4)), 2u);
  EXPECT_EQ(rig.engine->counters().chunks_dropped, 2u);
  rig.store(10, range(20, 2), 1);  // into the two slots that came free
  rig.store(11, range(22, 2), 2);
  EXPECT_EQ(rig.engine->counters().chunks_evicted, 0u);
  EXPECT_EQ(rig.engine->lookup(keys(0, 4)), 2u);
}

TEST(EngineEnds, ACancelledTransferThatOnlyWaitedEndsAtOnce) {
  Rig rig({.lane_chunks = 2});
  const Held held(rig);
  const TransferId second = *rig.engine->offload(keys(4, 2), range(10, 4));
  EXPECT_TRUE(rig.engine->cancel(second).ok());
  const auto results = rig.engine->take_results();
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].id, second);
  EXPECT_EQ(results[0].failed_chunks, 2u);
  EXPECT_EQ(rig.engine->cancel(second).code, Code::invalid);
  const TransferId third = *rig.engine->offload(keys(4, 2), range(10, 4));  // as if never asked for
  EXPECT_EQ(rig.device.open_gate(kGate).code, Code::ok);
  EXPECT_TRUE(rig.engine->wait(third, Nanos::max())->status.ok());
  EXPECT_EQ(rig.engine->lookup(keys(0, 6)), 6u);
}

TEST(EngineEnds, ACancelledLoadLeavesItsBlocksAloneAndUsable) {
  Rig rig({.lane_chunks = 2});
  for (std::uint64_t n = 0; n < 3; ++n) rig.store(n, range(0, 2), static_cast<std::uint8_t>(n));
  rig.wait(rig.fill(range(10, 6), 0xaa));
  rig.engine->note_read(range(10, 6), rig.hold(kGate));
  const TransferId load = *rig.engine->load(keys(0, 3), range(10, 6));
  EXPECT_EQ(rig.engine->fences_for_write(range(14, 2)).code(), Code::busy);
  EXPECT_TRUE(rig.engine->cancel(load).ok());
  EXPECT_EQ(rig.engine->fences_for_read(range(14, 2)).code(), Code::failed);
  const auto fences = rig.engine->fences_for_write(range(14, 2));
  ASSERT_TRUE(fences.ok());
  EXPECT_EQ(rig.device.open_gate(kGate).code, Code::ok);
  rig.engine->note_write(range(14, 2), rig.fill(range(14, 2), 0xbb, *fences));
  EXPECT_TRUE(rig.engine->fences_for_read(range(14, 2)).ok());
  EXPECT_EQ(rig.engine->wait(load, Nanos::max())->failed_chunks, 1u);
  EXPECT_TRUE(rig.all_are(range(14, 2), 0xbb));
  EXPECT_TRUE(rig.all_are(range(10, 2), 0));
  EXPECT_TRUE(rig.all_are(range(12, 2), 1));
}

// A copy that is dropped ends before those in front of it, which still read or write its blocks.
TEST(EngineEnds, AWriterWaitsForTheLoadBeforeACancelledOne) {
  Rig rig({.lane_chunks = 2});
  for (std::uint64_t n = 0; n < 3; ++n) rig.store(n, range(0, 2), static_cast<std::uint8_t>(n));
  rig.engine->note_read(range(10, 6), rig.hold(kGate));
  const TransferId open = *rig.engine->load(keys(0, 2), range(10, 4));
  const TransferId waits = *rig.engine->load(keys(2, 1), range(10, 2));
  EXPECT_TRUE(rig.engine->cancel(waits).ok());
  EXPECT_EQ(rig.engine->fences_for_read(range(10, 2)).code(), Code::failed);
  const auto fences = rig.engine->fences_for_write(range(10, 2));
  ASSERT_TRUE(fences.ok());
  EXPECT_FALSE(fences->empty());
  EXPECT_EQ(rig.device.open_gate(kGate).code, Code::ok);
  const Point written = rig.fill(range(10, 2), 0xbb, *fences);
  rig.engine->note_write(range(10, 2), written);
  rig.wait(written);
  EXPECT_TRUE(rig.engine->wait(open, Nanos::max())->status.ok());
  EXPECT_TRUE(rig.all_are(range(10, 2), 0xbb));
}

TEST(EngineEnds, ALoadWaitsForTheOffloadBeforeACancelledOne) {
  Rig rig({.lane_chunks = 2});
  rig.store(9, range(20, 2), 9);
  rig.hold(kGate);
  rig.engine->note_write(range(0, 4), rig.fill(range(0, 4), 5));
  const TransferId open = *rig.engine->offload(keys(0, 2), range(0, 4));
  const TransferId waits = *rig.engine->offload(keys(2, 1), range(0, 2));
  EXPECT_TRUE(rig.engine->cancel(waits).ok());
  EXPECT_FALSE(rig.engine->fences_for_write(range(0, 2))->empty());
  const TransferId load = *rig.engine->load(keys(9, 1), range(0, 2));
  EXPECT_EQ(rig.device.open_gate(kGate).code, Code::ok);
  EXPECT_TRUE(rig.engine->wait(open, Nanos::max())->status.ok());
  EXPECT_TRUE(rig.engine->wait(load, Nanos::max())->status.ok());
  EXPECT_TRUE(rig.fetch(0, range(30, 2)));
  EXPECT_TRUE(rig.all_are(range(30, 2), 5));
  EXPECT_TRUE(rig.all_are(range(0, 2), 9));
}

TEST(EngineEnds, WhatWaitsPastItsDeadlineIsDropped) {
  Rig rig({.lane_chunks = 2});
  const Nanos deadline = rig.device.now() + kMillisecond;
  const Held held(rig, deadline);
  EXPECT_EQ(rig.engine->wait(held.id, deadline - Nanos(1)).code(), Code::timeout);
  EXPECT_EQ(rig.engine->counters().chunks_dropped, 0u);
  // What the device has been handed is not dropped, and here it never ends.
  EXPECT_EQ(rig.engine->wait(held.id, deadline + Nanos(1)).code(), Code::stuck);
  EXPECT_EQ(rig.engine->counters().chunks_dropped, 2u);
  EXPECT_EQ(rig.device.open_gate(kGate).code, Code::ok);
  const auto result = rig.engine->wait(held.id, Nanos::max());
  EXPECT_EQ(result->status.code, Code::timeout);
  EXPECT_EQ(rig.engine->lookup(keys(0, 4)), 2u);
}

TEST(EngineEnds, ADeadlineThatIsKeptChangesNothing) {
  Rig rig({.lane_chunks = 2});
  rig.store(0, range(0, 2), 3);
  const auto load = rig.engine->load(keys(0, 1), range(4, 2),
                                     {.deadline = rig.device.now() + 1000 * kMillisecond});
  EXPECT_TRUE(finish(rig, load).status.ok());
  EXPECT_TRUE(rig.all_are(range(4, 2), 3));
}

TEST(EngineEnds, ALaneOnWhichACopyNeverEndsIsGivenUp) {
  Rig rig({.tier_chunks = 6, .lane_chunks = 2, .copy_timeout = kMillisecond});
  rig.store(20, range(30, 2), 9);
  const Held held(rig);
  const auto result = rig.engine->wait(held.id, Nanos::max());
  ASSERT_TRUE(result.ok()) << result.status().text;
  EXPECT_EQ(result->status.code, Code::lost);
  EXPECT_EQ(result->failed_chunks, 4u);
  EXPECT_EQ(rig.engine->lookup(keys(0, 4)), 0u);
  EXPECT_EQ(rig.engine->offload(keys(5, 1), range(20, 2)).code(), Code::lost);
  EXPECT_TRUE(rig.engine->fences_for_write(range(0, 8))->empty());
  EXPECT_TRUE(rig.fetch(20, range(28, 2)));  // the other direction works on
  // The copies do land in the end, where nothing else lies.
  EXPECT_EQ(rig.device.open_gate(kGate).code, Code::ok);
  rig.wait(rig.read(range(28, 2)));
  EXPECT_TRUE(rig.fetch(20, range(26, 2)));
  EXPECT_TRUE(rig.all_are(range(26, 2), 9));
}

// Where time passes and the copy could still end, the timeout alone decides.
TEST(EngineEnds, ALaneIsNotGivenUpBeforeItsTime) {
  Rig rig({.lane_chunks = 2, .copy_timeout = kMillisecond});
  const Held held(rig);
  const Nanos submitted = rig.device.now();
  EXPECT_EQ(rig.engine->wait(held.id, submitted + kMillisecond / 2).code(), Code::timeout);
  EXPECT_EQ(rig.device.open_gate(kGate).code, Code::ok);
  EXPECT_TRUE(rig.engine->wait(held.id, Nanos::max())->status.ok());
}

TEST(EngineEnds, BlocksThatALostLoadMayStillWriteToAreNeverUsedAgain) {
  Rig rig({.lane_chunks = 2, .copy_timeout = kMillisecond});
  for (std::uint64_t n = 0; n < 3; ++n) rig.store(n, range(0, 2), static_cast<std::uint8_t>(n));
  rig.engine->note_read(range(10, 6), rig.hold(kGate));
  const TransferId load = *rig.engine->load(keys(0, 3), range(10, 6));
  EXPECT_EQ(rig.engine->wait(load, Nanos::max())->status.code, Code::lost);
  EXPECT_EQ(rig.engine->lookup(keys(0, 3)), 0u);  // recompute
  EXPECT_EQ(rig.engine->load(keys(0, 1), range(20, 2)).code(), Code::lost);
  EXPECT_EQ(rig.engine->fences_for_write(range(10, 1)).code(), Code::lost);
  EXPECT_EQ(rig.engine->fences_for_read(range(13, 1)).code(), Code::lost);
  EXPECT_TRUE(rig.engine->fences_for_write(range(14, 2)).ok());  // of a copy that never began
  EXPECT_EQ(rig.device.open_gate(kGate).code, Code::ok);
}

TEST(EngineEnds, EstimatesFollowTheRateAndTheBacklog) {
  Rig rig;
  EXPECT_FALSE(rig.engine->estimate(Direction::load, 1));
  for (std::uint64_t n = 0; n < 8; ++n) rig.store(n, range(0, 2), static_cast<std::uint8_t>(n));
  const auto took = [](const TransferResult& r) { return r.interval.end - r.interval.begin; };
  Nanos eight{};
  for (int i = 0; i < 4; ++i) {
    eight = took(finish(rig, rig.engine->load(keys(0, 8), range(10, 16))));
  }
  const auto expected = rig.engine->estimate(Direction::load, 16);
  ASSERT_TRUE(expected);
  EXPECT_NEAR(static_cast<double>(expected->count()), static_cast<double>(eight.count()),
              0.25 * static_cast<double>(eight.count()));
  const TransferId load = *rig.engine->load(keys(0, 8), range(10, 16));
  EXPECT_NEAR(static_cast<double>(rig.engine->estimate(Direction::load, 16)->count()),
              2.0 * static_cast<double>(expected->count()), 1.0);
  EXPECT_TRUE(rig.engine->wait(load, Nanos::max()).ok());
  const auto after = rig.engine->estimate(Direction::load, 16);
  EXPECT_LT(*after, *expected * 3 / 2);
}

}  // namespace
}  // namespace kvroof
