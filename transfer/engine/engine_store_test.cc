// SPDX-License-Identifier: Apache-2.0
// What the engine stores and when, what leaves the tier as it is loaded, and what stays.
#include <gtest/gtest.h>

#include <vector>

#include "transfer/testing/test_rig.h"

namespace kvroof {
namespace {

using Blocks = std::vector<BlockId>;

TransferResult offer(Rig& rig, std::uint64_t n, const Blocks& blocks, Offer offer) {
  const ChunkKey key = Rig::key(n);
  const auto id = rig.engine->offload({&key, 1}, blocks, {.offer = offer});
  EXPECT_TRUE(id.ok()) << id.status().text;
  const auto result = rig.engine->wait(*id, Nanos::max());
  EXPECT_TRUE(result.ok() && result->status.ok());
  return *result;
}

void fill(Rig& rig, const Blocks& blocks, std::uint8_t value) {
  const Point by = rig.fill(blocks, value);
  rig.engine->note_write(blocks, by);
  rig.wait(by);
}

TEST(EngineStoreTest, ASecondUseStoresWhatTheFirstOneNoted) {
  Rig rig({.store = StorePolicy::second_use});
  fill(rig, {0, 1}, 0x11);
  EXPECT_EQ(offer(rig, 1, {0, 1}, Offer::used).chunks_unwanted, 1u);
  EXPECT_FALSE(rig.holds(1));
  EXPECT_EQ(offer(rig, 1, {0, 1}, Offer::used).chunks_unwanted, 0u);
  EXPECT_TRUE(rig.holds(1));
  EXPECT_TRUE(rig.fetch(1, Blocks{4, 5}));
  EXPECT_TRUE(rig.all_are(Blocks{4, 5}, 0x11));
  EXPECT_TRUE(rig.holds(1));
  EXPECT_EQ(rig.engine->counters().chunks_unwanted, 1u);
  EXPECT_EQ(rig.engine->counters().chunks_handed_over, 0u);
}

TEST(EngineStoreTest, AChunkIsInTheTierOrInTheAcceleratorsCacheAlone) {
  Rig rig({.store = StorePolicy::on_evict});
  fill(rig, {0, 1}, 0x11);
  EXPECT_EQ(offer(rig, 1, {0, 1}, Offer::used).bytes, 0u) << "the accelerator still has it";
  EXPECT_FALSE(rig.holds(1));
  EXPECT_GT(offer(rig, 1, {0, 1}, Offer::evicted).bytes, 0u);
  EXPECT_TRUE(rig.holds(1));
  EXPECT_TRUE(rig.fetch(1, Blocks{4, 5}));
  EXPECT_TRUE(rig.all_are(Blocks{4, 5}, 0x11));
  EXPECT_FALSE(rig.holds(1)) << "now the accelerator has it";
  EXPECT_EQ(rig.engine->counters().chunks_handed_over, 1u);
  EXPECT_GT(offer(rig, 1, {4, 5}, Offer::evicted).bytes, 0u);
  EXPECT_TRUE(rig.holds(1));
}

// Two loads of a chunk are on their way when the first lands: the second reads its bytes still,
// although other chunks want the room.
TEST(EngineStoreTest, WhatIsHandedOverTwiceIsReadTwice) {
  Rig rig({.tier_chunks = 1, .lane_chunks = 2, .store = StorePolicy::on_evict});
  fill(rig, {0, 1}, 0x11);
  fill(rig, {2, 3}, 0x22);
  offer(rig, 1, {0, 1}, Offer::evicted);
  const ChunkKey key = Rig::key(1);
  std::vector<TransferId> loads;
  for (const Blocks& to : {Blocks{4, 5}, Blocks{6, 7}, Blocks{8, 9}, Blocks{10, 11}}) {
    const auto id = rig.engine->load({&key, 1}, to);
    ASSERT_TRUE(id.ok());
    loads.push_back(*id);
  }
  ASSERT_TRUE(rig.engine->wait(loads.front(), Nanos::max()).ok());
  EXPECT_EQ(offer(rig, 2, {2, 3}, Offer::evicted).chunks_refused, 1u) << "its slot is being read";
  rig.run();
  for (const BlockId block : {4u, 5u, 6u, 7u, 8u, 9u, 10u, 11u}) {
    EXPECT_TRUE(rig.all_are(Blocks{block}, 0x11)) << block;
  }
  EXPECT_EQ(rig.engine->counters().chunks_handed_over, 1u);
  EXPECT_EQ(offer(rig, 2, {2, 3}, Offer::evicted).chunks_refused, 0u) << "and is free again";
}

TEST(EngineStoreTest, AFailedLoadHandsNothingOver) {
  Rig rig({.store = StorePolicy::on_evict});
  fill(rig, {0, 1}, 0x11);
  offer(rig, 1, {0, 1}, Offer::evicted);
  rig.device.faults.fails = [](QueueKind kind, Ticket) { return kind == QueueKind::copy_in; };
  EXPECT_FALSE(rig.fetch(1, Blocks{4, 5}));
  EXPECT_TRUE(rig.holds(1)) << "it is nowhere else";
  rig.device.faults.fails = nullptr;
  EXPECT_TRUE(rig.fetch(1, Blocks{4, 5}));
  EXPECT_TRUE(rig.all_are(Blocks{4, 5}, 0x11));
}

TEST(EngineStoreTest, AProtectedChunkIsNeitherEvictedNorHandedOver) {
  for (const Eviction eviction : {Eviction::lru, Eviction::arc, Eviction::s3fifo}) {
    Rig rig({.tier_chunks = 2, .eviction = eviction, .store = StorePolicy::on_evict});
    fill(rig, {0, 1}, 0x11);
    EXPECT_EQ(rig.engine->protect(Rig::key(1), true).code, Code::invalid);
    offer(rig, 1, {0, 1}, Offer::evicted);
    ASSERT_TRUE(rig.engine->protect(Rig::key(1), true).ok());
    for (std::uint64_t n = 2; n < 10; ++n) {
      EXPECT_EQ(offer(rig, n, {0, 1}, Offer::evicted).chunks_refused, 0u);
    }
    EXPECT_EQ(rig.engine->protect(Rig::key(9), true).code, Code::no_memory) << "half is the most";
    EXPECT_TRUE(rig.fetch(1, Blocks{4, 5}));
    EXPECT_TRUE(rig.holds(1)) << name(eviction);
    ASSERT_TRUE(rig.engine->protect(Rig::key(1), false).ok());
    EXPECT_TRUE(rig.fetch(1, Blocks{4, 5}));
    EXPECT_FALSE(rig.holds(1));
  }
}

TEST(EngineStore, AChunkWhoseEndWasNotLoadedStaysInTheTier) {
  Rig rig({.store = StorePolicy::on_evict});
  offer(rig, 1, {0, 1}, Offer::evicted);
  finish(rig, rig.engine->load(keys(1, 1), Blocks{8}));
  EXPECT_TRUE(rig.holds(1)) << "nobody else has its second block";
  finish(rig, rig.engine->load(keys(1, 1), Blocks{8}, {.skip_blocks = 1}));
  EXPECT_FALSE(rig.holds(1)) << "the cache has had its first block";
}

}  // namespace
}  // namespace kvroof
