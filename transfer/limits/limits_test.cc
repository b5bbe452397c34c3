// SPDX-License-Identifier: Apache-2.0
#include "transfer/limits/limits.h"

#include <gtest/gtest.h>

namespace kvroof {
namespace {

LoadQuestion question() {
  return {.tokens = 1000, .hit_chunks = 7, .chunk_tokens = 128, .max_load_tokens = 0};
}

TEST(Limits, OnlyWholeChunksAreMoved) {
  EXPECT_EQ(chunks_within(1000, 0, 128), 7u);
  EXPECT_EQ(chunks_within(1024, 0, 128), 8u);
  EXPECT_EQ(chunks_within(127, 0, 128), 0u);
}

TEST(Limits, ALimitIsRoundedDownToChunks) {
  EXPECT_EQ(chunks_within(1000, 511, 128), 3u);
  EXPECT_EQ(chunks_within(1000, 512, 128), 4u);
  EXPECT_EQ(chunks_within(1000, 5000, 128), 7u);
  EXPECT_EQ(chunks_within(1000, 1, 128), 0u);
}

TEST(Limits, WithoutLimitsAllHitsAreLoaded) {
  const LoadDecision decision = decide_load(question());
  EXPECT_EQ(decision.reason, LoadReason::all);
  EXPECT_EQ(decision.chunks, 7u);
  EXPECT_EQ(decision.tokens_loaded, 896u);
  EXPECT_EQ(decision.tokens_recomputed, 104u);
}

TEST(Limits, WhatIsAboveTheLimitIsRecomputed) {
  LoadQuestion asked = question();
  asked.max_load_tokens = 300;
  const LoadDecision decision = decide_load(asked);
  EXPECT_EQ(decision.reason, LoadReason::limit);
  EXPECT_EQ(decision.tokens_loaded, 256u);
  EXPECT_EQ(decision.tokens_recomputed, 744u);
}

TEST(Limits, NobodyWaitsForLongerThanRecomputingTakes) {
  LoadQuestion asked = question();
  asked.load_time = Nanos(1001);
  asked.recompute_time = Nanos(1000);
  EXPECT_EQ(decide_load(asked).reason, LoadReason::backlog);
  EXPECT_EQ(decide_load(asked).tokens_recomputed, 1000u);
  asked.load_time = Nanos(1000);
  EXPECT_EQ(decide_load(asked).reason, LoadReason::all);
  asked.load_time.reset();  // not known yet: the first load finds out
  EXPECT_EQ(decide_load(asked).reason, LoadReason::all);
}

TEST(Limits, NothingHitIsNothingLoaded) {
  LoadQuestion asked = question();
  asked.hit_chunks = 0;
  asked.load_time = Nanos(5);
  asked.recompute_time = Nanos(1);
  EXPECT_EQ(decide_load(asked).reason, LoadReason::nothing);
  EXPECT_EQ(decide_load(asked).tokens_recomputed, 1000u);
}

}  // namespace
}  // namespace kvroof
