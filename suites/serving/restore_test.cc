// SPDX-License-Identifier: Apache-2.0
// Restoring a batch: what is loaded and what computed, how the lanes overlap, and what a failed
// load costs. On the host every figure's bytes and logits are real; on the simulator times are.
#include "suites/serving/restore.h"

#include <gtest/gtest.h>

#include "suites/serving/test_rig.h"

namespace kvroof {
namespace {

TEST(RestoreOnHost, CopyLoadsWholeChunksAndComputesTheRest) {
  Rig rig(open_host(), 5 * kChunkTokens + 3, 2);
  const auto done = copy(*rig.session, rig.batch, {});
  ASSERT_TRUE(done.ok()) << done.status().text;
  EXPECT_EQ(done->chunks_loaded, 10u);
  EXPECT_EQ(done->failed_loads, 0u);
  EXPECT_LT(rig.difference(), 1e-5);
}

TEST(RestoreOnHost, ARangeOfChunksIsLoadedBetweenComputedParts) {
  for (const ChunkRange range : {ChunkRange{2, 3}, ChunkRange{4, 1}, ChunkRange{1, 2}}) {
    Rig rig(open_host(), 5 * kChunkTokens, 3);
    const auto done = restore(*rig.session, rig.batch, range, {});
    ASSERT_TRUE(done.ok()) << done.status().text;
    EXPECT_EQ(done->chunks_loaded, 3 * range.count);
    EXPECT_LT(rig.difference(), 1e-5) << range.first;
  }
}

TEST(RestoreOnHost, ARequestWhoseLoadFailsIsRecomputed) {
  for (const int failing : {1, 4, 6}) {
    Rig rig(open_host(), 3 * kChunkTokens + 1, 2);
    rig.plant_failing_load(failing);
    const auto done = copy(*rig.session, rig.batch, {});
    ASSERT_TRUE(done.ok()) << done.status().text;
    EXPECT_EQ(done->failed_loads, 1u) << failing;
    EXPECT_EQ(done->chunks_loaded, 5u);
    EXPECT_LT(rig.difference(), 1e-5);
  }
}

TEST(RestoreOnHost, AFailedLoadBehindAComputedFrontIsRecomputed) {
  Rig rig(open_host(), 4 * kChunkTokens, 2);
  rig.plant_failing_load(2);
  const auto done = restore(*rig.session, rig.batch, {2, 2}, {});
  ASSERT_TRUE(done.ok()) << done.status().text;
  EXPECT_EQ(done->failed_loads, 1u);
  EXPECT_LT(rig.difference(), 1e-5);
}

TEST(RestoreOnHost, WithoutTheLoadTheCacheHoldsNothing) {
  Rig rig(open_host(), 3 * kChunkTokens, 1);
  const PrefillRequest last = rig.batch.requests[0].prefill(*rig.session, 3 * kChunkTokens - 1);
  const auto ticket = rig.session->prefill->submit({&last, 1}, {});
  ASSERT_TRUE(ticket.ok());
  ASSERT_TRUE(rig.session->prefill->finish(*ticket).ok());
  EXPECT_FALSE(rig.difference() < 1e-5);
}

TEST(RestoreOnSim, LoadsGoOnWhileTheComputeLaneIsFull) {
  constexpr std::uint32_t kRequests = 1000;  // some 20 ops each: five times what the lane takes
  Rig rig(open_simulator(), 8 * kChunkTokens + kChunkTokens - 1, kRequests, heavy_model());
  const auto done = copy(*rig.session, rig.batch, {});
  ASSERT_TRUE(done.ok()) << done.status().text;
  EXPECT_EQ(done->chunks_loaded, 8 * kRequests);
  // The passes take some 450 ms. The CPU takes 40 ms to submit copies and passes, and that is all
  // that loads should wait for.
  EXPECT_GT(done->ttft, std::chrono::milliseconds(300));
  EXPECT_LT(done->load, std::chrono::milliseconds(100)) << done->load.count();
}

TEST(RestoreOnSim, TheCpuTimeOfLaterRequestsDelaysNoLoad) {
  ServingCost cost;
  cost.first_step_seconds = 3e-3;
  cost.prepare_seconds_per_16_tokens = 5e-6;
  Rig rig(open_simulator(), 4 * kChunkTokens, 8);
  const auto done = copy(*rig.session, rig.batch, cost);
  ASSERT_TRUE(done.ok()) << done.status().text;
  const double turn = 3e-3 + 2 * 5e-6;
  const double first_to_last = static_cast<double>(done->load.count()) * 1e-9;
  EXPECT_GT(first_to_last, 7 * turn);
  EXPECT_LT(static_cast<double>(done->ttft.count()) * 1e-9, 8 * turn + 1e-3);
  EXPECT_LT(static_cast<double>(done->ttft_median.count()) * 1e-9, 4 * turn + 1e-3);
}

TEST(RestoreOnSim, TheFrontIsComputedWhileTheBackIsLoaded) {
  constexpr std::uint32_t kChunks = 400;
  Rig rig(open_simulator(), kChunks * kChunkTokens, 1);
  const auto all = copy(*rig.session, rig.batch, {});
  const auto none = recompute(*rig.session, rig.batch, {});
  ASSERT_TRUE(all.ok() && none.ok());
  const auto half = restore(*rig.session, rig.batch, {kChunks / 2, kChunks / 2}, {});
  ASSERT_TRUE(half.ok()) << half.status().text;
  EXPECT_LT(half->ttft, std::max(all->ttft, none->ttft));
}

}  // namespace
}  // namespace kvroof
