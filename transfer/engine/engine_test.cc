// SPDX-License-Identifier: Apache-2.0
// What the engine does besides ordering: bytes and places, hits, eviction, refusal, limits, ends.
#include "transfer/engine/engine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "transfer/testing/test_pattern.h"
#include "transfer/testing/test_rig.h"

namespace kvroof {
namespace {

struct EngineLayoutTest : testing::TestWithParam<Layout> {};

TEST_P(EngineLayoutTest, EveryElementComesBackWhereverItsBlockIsPut) {
  Rig rig({.layout = GetParam()});
  rig.write_cache(pattern(rig.kv));
  Blocks from = range(0, Rig::kBlocks);
  std::shuffle(from.begin(), from.end(), std::mt19937(1));
  from.resize(12);  // 6 chunks
  EXPECT_EQ(finish(rig, rig.engine->offload(keys(0, 6), from)).bytes, 12 * rig.kv.block_bytes());

  rig.wait(rig.fill(range(0, Rig::kBlocks), 0xee));
  Blocks to = range(0, Rig::kBlocks);
  std::shuffle(to.begin(), to.end(), std::mt19937(2));
  to.resize(12);
  EXPECT_EQ(finish(rig, rig.engine->load(keys(0, 6), to)).bytes, 12 * rig.kv.block_bytes());
  const auto cache = rig.read_cache();
  for (std::size_t i = 0; i < to.size(); ++i)
    EXPECT_EQ(mismatches(rig.kv, cache, to[i], from[i]), 0u);
  // and nothing else was touched
  for (BlockId block = 0; block < Rig::kBlocks; ++block) {
    if (std::find(to.begin(), to.end(), block) != to.end()) continue;
    EXPECT_TRUE(rig.all_are(Blocks{block}, 0xee)) << block;
  }
}

TEST_P(EngineLayoutTest, APrefixIsReusedInPart) {
  Rig rig({.layout = GetParam()});
  rig.write_cache(pattern(rig.kv));
  finish(rig, rig.engine->offload(keys(0, 3), range(0, 6)));
  auto longer = keys(0, 5);
  EXPECT_EQ(rig.engine->lookup(longer), 3u);
  longer[1] = Rig::key(99);
  EXPECT_EQ(rig.engine->lookup(longer), 1u);
  finish(rig, rig.engine->load(keys(0, 1), Blocks{20, 10}));
  const auto cache = rig.read_cache();
  EXPECT_EQ(mismatches(rig.kv, cache, 20, 0), 0u);
  EXPECT_EQ(mismatches(rig.kv, cache, 10, 1), 0u);
}

TEST_P(EngineLayoutTest, OfTheFirstAndTheLastChunkPartsAreLoaded) {
  Rig rig({.layout = GetParam()});
  rig.write_cache(pattern(rig.kv));
  finish(rig, rig.engine->offload(keys(0, 3), range(0, 6)));
  const Blocks to = {20, 10, 25, 12};  // of blocks 1 to 4
  const auto result = finish(rig, rig.engine->load(keys(0, 3), to, {.skip_blocks = 1}));
  EXPECT_EQ(result.bytes, 4 * rig.kv.block_bytes());
  EXPECT_EQ(rig.engine->counters().bytes_loaded, result.bytes);
  auto cache = rig.read_cache();
  for (BlockId i = 0; i < 4; ++i) EXPECT_EQ(mismatches(rig.kv, cache, to[i], i + 1), 0u);

  finish(rig, rig.engine->load(keys(1, 1), Blocks{30}));
  finish(rig, rig.engine->load(keys(1, 1), Blocks{29}, {.skip_blocks = 1}));
  cache = rig.read_cache();
  EXPECT_EQ(mismatches(rig.kv, cache, 30, 2), 0u);
  EXPECT_EQ(mismatches(rig.kv, cache, 29, 3), 0u);
  for (const BlockId untouched : {11u, 13u, 21u, 26u, 28u, 31u}) {
    EXPECT_EQ(mismatches(rig.kv, cache, untouched, untouched), 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(Layouts, EngineLayoutTest,
                         testing::Values(Layout::block_first, Layout::layer_first),
                         [](const auto& layout) { return std::string(name(layout.param)); });

TEST(Engine, RegionsAndTimesAreReported) {
  Rig rig;
  const Nanos before = rig.device.now();
  const TransferResult result = finish(rig, rig.engine->offload(keys(0, 2), Blocks{1, 2, 9, 5}));
  EXPECT_EQ(result.chunks, 2u);
  // Of dma one covers two neighbours; a staged chunk is one.
  EXPECT_EQ(result.regions, rig_path == CopyPath::staged ? 2u : 3u);
  EXPECT_GE(result.interval.begin, before);
  EXPECT_GT(result.interval.end, result.interval.begin);
  EXPECT_LE(result.interval.end, rig.device.now());
  EXPECT_EQ(rig.engine->counters().bytes_offloaded, 4 * rig.kv.block_bytes());
  EXPECT_EQ(rig.engine->counters().chunks_offloaded, 2u);
}

TEST(Engine, AChunkThatIsThereOrOnItsWayIsNotCopiedAgain) {
  Rig rig;
  const auto first = rig.engine->offload(keys(0, 2), range(0, 4));
  const TransferResult on_its_way = finish(rig, rig.engine->offload(keys(1, 2), range(2, 4)));
  EXPECT_EQ(on_its_way.chunks_held, 1u);
  EXPECT_EQ(on_its_way.bytes, 2 * rig.kv.block_bytes());
  finish(rig, first);
  const TransferResult there = finish(rig, rig.engine->offload(keys(0, 3), range(0, 6)));
  EXPECT_EQ(there.chunks_held, 3u);
  EXPECT_EQ(there.bytes, 0u);
  EXPECT_TRUE(there.status.ok());
  EXPECT_EQ(rig.engine->counters().chunks_offloaded, 3u);
}

TEST(Engine, AFullTierEvictsTheLeastRecentlyUsed) {
  Rig rig({.tier_chunks = 3});
  for (std::uint64_t n = 0; n < 3; ++n) rig.store(n, Blocks{2, 3}, static_cast<std::uint8_t>(n));
  ASSERT_TRUE(rig.fetch(0, Blocks{8, 9}));
  rig.store(3, Blocks{2, 3}, 3);
  EXPECT_FALSE(rig.holds(1));
  EXPECT_TRUE(rig.holds(0) && rig.holds(2) && rig.holds(3));
  EXPECT_EQ(rig.engine->counters().chunks_evicted, 1u);
  ASSERT_TRUE(rig.fetch(3, Blocks{8, 9}));
  EXPECT_TRUE(rig.all_are(Blocks{8, 9}, 3));
}

TEST(Engine, OfAPrefixTheEndIsEvictedFirst) {
  Rig rig({.tier_chunks = 3});
  finish(rig, rig.engine->offload(keys(0, 3), range(0, 6)));
  rig.store(9, Blocks{20, 21}, 9);
  EXPECT_EQ(rig.engine->lookup(keys(0, 3)), 2u);
}

// One chunk is being loaded, the other has not landed: neither may go, so the third is refused.
TEST(Engine, ATierFullOfChunksInUseRefusesAndServesOn) {
  Rig rig({.tier_chunks = 2});
  rig.store(0, Blocks{2, 3}, 0x10);
  const Point held = rig.hold(1);
  rig.engine->note_read(Blocks{6, 7}, held);
  rig.engine->note_write(Blocks{8, 9}, held);
  const auto load = rig.engine->load(keys(0, 1), Blocks{6, 7});
  const auto offload = rig.engine->offload(keys(1, 1), Blocks{8, 9});
  const TransferResult refused = finish(rig, rig.engine->offload(keys(2, 1), Blocks{4, 5}));
  EXPECT_EQ(refused.chunks_refused, 1u);
  EXPECT_TRUE(refused.status.ok());
  EXPECT_EQ(rig.engine->counters().chunks_evicted, 0u);
  ASSERT_TRUE(rig.device.open_gate(1).ok());
  EXPECT_TRUE(finish(rig, load).status.ok());
  EXPECT_TRUE(finish(rig, offload).status.ok());
  EXPECT_TRUE(rig.all_are(Blocks{6, 7}, 0x10));
  rig.store(2, Blocks{4, 5}, 0x12);  // now there is something to evict
  EXPECT_TRUE(rig.holds(2));
}

TEST(Engine, AnOffloadLargerThanTheTierKeepsItsBeginning) {
  Rig rig({.tier_chunks = 3});
  const TransferResult result = finish(rig, rig.engine->offload(keys(0, 5), range(0, 10)));
  EXPECT_EQ(result.chunks_refused, 2u);
  EXPECT_EQ(rig.engine->lookup(keys(0, 5)), 3u);
}

TEST(Engine, CallsThatCannotBeMeantAreInvalidAndChangeNothing) {
  Rig rig;
  rig.store(0, Blocks{2, 3}, 1);
  Engine& engine = *rig.engine;
  EXPECT_EQ(engine.offload(keys(1, 1), Blocks{1, 2, 3}).code(), Code::invalid);
  EXPECT_EQ(engine.offload(keys(1, 1), Blocks{1, Rig::kBlocks}).code(), Code::invalid);
  EXPECT_EQ(engine.load(keys(0, 1), Blocks{5, 5}).code(), Code::invalid);
  EXPECT_EQ(engine.offload(keys(1, 1), Blocks{1}).code(), Code::invalid);  // part of a chunk
  EXPECT_EQ(engine.load(keys(0, 1), Blocks{}).code(), Code::invalid);
  EXPECT_EQ(engine.load(keys(0, 1), Blocks{5}, {.skip_blocks = 2}).code(), Code::invalid);
  EXPECT_EQ(engine.load(keys(0, 1), Blocks{5, 6}, {.skip_blocks = 1}).code(), Code::invalid);
  EXPECT_EQ(engine.load({}, Blocks{}, {.skip_blocks = 1}).code(), Code::invalid);
  EXPECT_EQ(engine.load(keys(0, 2), Blocks{5, 6, 7, 8}).code(), Code::invalid);
  EXPECT_EQ(engine.fences_for_read(Blocks{Rig::kBlocks}).code(), Code::invalid);
  EXPECT_EQ(engine.wait(77, Nanos::max()).code(), Code::invalid);
  EXPECT_TRUE(engine.open_points().empty());
  EXPECT_TRUE(engine.take_results().empty());
  EXPECT_TRUE(rig.fetch(0, Blocks{5, 6}));
}

TEST(Engine, ConfigurationsThatCannotWorkAreRefused) {
  Rig rig;
  EngineConfig config{.kv = rig.kv, .blocks_per_chunk = 2, .host_tier_bytes = 1 << 20};
  const auto code = [&] { return Engine::create(rig.device, *rig.cache, config).code(); };
  EXPECT_EQ(code(), Code::ok);
  config.host_tier_bytes = 2 * rig.kv.block_bytes() - 1;
  EXPECT_EQ(code(), Code::invalid);
  config.host_tier_bytes = 1ull << 40;  // more than the device's host has
  EXPECT_EQ(code(), Code::no_memory);
  config.host_tier_bytes = 1 << 20;
  config.blocks_per_chunk = 0;
  EXPECT_EQ(code(), Code::invalid);
  config.blocks_per_chunk = 2;
  config.kv.blocks = Rig::kBlocks + 1;  // the cache is smaller
  EXPECT_EQ(code(), Code::invalid);
}

TEST(Engine, NothingToDoEndsAtOnce) {
  Rig rig;
  const auto id = rig.engine->offload({}, {});
  const auto results = rig.engine->take_results();
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].id, *id);
  EXPECT_TRUE(results[0].status.ok());
}

TEST(Engine, ADeadlineLeavesTheTransferOpen) {
  Rig rig;
  const auto id = rig.engine->offload(keys(0, 1), Blocks{0, 1});
  EXPECT_EQ(rig.engine->wait(*id, rig.device.now()).code(), Code::timeout);
  EXPECT_TRUE(finish(rig, id).status.ok());
  EXPECT_EQ(rig.engine->wait(*id, Nanos::max()).code(), Code::invalid);  // taken already
}

TEST(Engine, WhatCanNeverHappenIsStuckAndNotAHang) {
  Rig rig;
  rig.engine->note_write(Blocks{0, 1}, rig.hold(1));
  const auto id = rig.engine->offload(keys(0, 1), Blocks{0, 1});
  EXPECT_EQ(rig.engine->wait(*id, Nanos::max()).code(), Code::stuck);
}

// Room for one open ticket a queue and one region a submission: slower, and all the same.
TEST(Engine, ABusyQueueOnlyDelays) {
  Rig rig({.layout = Layout::layer_first}, {.max_regions = 1, .max_open_tickets = 1});
  rig.write_cache(pattern(rig.kv));
  finish(rig, rig.engine->offload(keys(0, 4), range(0, 8)));
  finish(rig, rig.engine->load(keys(0, 4), range(8, 8)));
  const auto cache = rig.read_cache();
  for (BlockId block = 0; block < 8; ++block) {
    EXPECT_EQ(mismatches(rig.kv, cache, block + 8, block), 0u);
  }
}

TEST(Engine, AFailedChunkDoesNotTakeItsNeighboursWithIt) {
  Rig rig({}, {.fails = [](QueueKind kind, Ticket ticket) {
            return kind == QueueKind::copy_out && ticket == 2;
          }});
  const TransferResult result = finish(rig, rig.engine->offload(keys(0, 3), range(0, 6)));
  EXPECT_EQ(result.status.code, Code::failed);
  EXPECT_EQ(result.failed_chunks, 1u);
  EXPECT_EQ(result.bytes, 4 * rig.kv.block_bytes());
  EXPECT_TRUE(rig.holds(0));
  EXPECT_FALSE(rig.holds(1));
  EXPECT_TRUE(rig.holds(2));
}

// Once it has ended, a failed copy no longer stands in the way of others that use its blocks.
TEST(Engine, AFailedOffloadDoesNotBlockItsBlocks) {
  Rig rig;
  rig.store(7, Blocks{2, 3}, 0x77);
  rig.device.faults.fails = [](QueueKind kind, Ticket) { return kind == QueueKind::copy_out; };
  EXPECT_EQ(finish(rig, rig.engine->offload(keys(0, 1), Blocks{4, 5})).failed_chunks, 1u);
  rig.device.faults.fails = nullptr;
  EXPECT_TRUE(rig.fetch(7, Blocks{4, 5}));
  EXPECT_TRUE(rig.all_are(Blocks{4, 5}, 0x77));
}

TEST(Engine, WritersWaitForOpenCopiesOfTheirBlocks) {
  Rig rig({.lane_chunks = 2});
  rig.wait(rig.fill(range(0, 6), 0x11));
  rig.engine->note_write(Blocks{10, 11}, rig.hold(1));
  const auto ids = rig.engine->offload(keys(0, 3), Blocks{10, 11, 0, 1, 2, 3});
  EXPECT_EQ(rig.engine->fences_for_write(Blocks{2}).code(), Code::busy);  // waits in its lane
  const auto fences = rig.engine->fences_for_write(Blocks{0, 1});
  ASSERT_TRUE(fences.ok());
  EXPECT_EQ(fences->size(), 1u);
  EXPECT_TRUE(rig.engine->fences_for_write(Blocks{20})->empty());
  ASSERT_TRUE(rig.device.open_gate(1).ok());
  finish(rig, ids);
  EXPECT_TRUE(rig.engine->fences_for_write(range(0, 4))->empty());
}

// A writer that does not ask loses the offload, not the truth.
TEST(Engine, AnOffloadWhoseSourceIsOverwrittenWhileItWaitsFails) {
  Rig rig({.lane_chunks = 2});
  rig.engine->note_write(Blocks{10, 11}, rig.hold(1));
  const auto id = rig.engine->offload(keys(0, 4), Blocks{10, 11, 0, 1, 2, 3, 4, 5});
  rig.engine->note_write(Blocks{3}, rig.fill(Blocks{3}, 0x99));
  ASSERT_TRUE(rig.device.open_gate(1).ok());
  const TransferResult result = finish(rig, id);
  EXPECT_EQ(result.failed_chunks, 1u);
  EXPECT_EQ(result.status.code, Code::aborted);
  EXPECT_FALSE(rig.holds(2));
  EXPECT_TRUE(rig.holds(0) && rig.holds(1) && rig.holds(3));
}

TEST(Engine, EveryComputeQueueThatIsNamedIsWaitedFor) {
  Rig rig;
  const Blocks blocks = {4, 9};
  rig.wait(rig.fill(blocks, 0x11));
  rig.engine->note_write(Blocks{4}, rig.hold(1));
  const auto hold = rig.writer->submit({.fences = {}, .body = Hold{2}});
  rig.engine->note_write(Blocks{9}, {rig.writer.get(), *hold});
  ASSERT_TRUE(rig.engine->offload(keys(0, 1), blocks).ok());
  rig.run();
  ASSERT_TRUE(rig.device.open_gate(1).ok());
  rig.run();
  EXPECT_FALSE(rig.holds(0));
  ASSERT_TRUE(rig.device.open_gate(2).ok());
  rig.run();
  EXPECT_TRUE(rig.holds(0));
}

TEST(Engine, ResultsComeInTheOrderOfEnding) {
  Rig rig;
  rig.store(0, Blocks{2, 3}, 1);
  rig.engine->note_write(Blocks{4, 5}, rig.hold(1));
  const auto late = rig.engine->offload(keys(1, 1), Blocks{4, 5});
  const auto early = rig.engine->load(keys(0, 1), Blocks{8, 9});
  rig.run();
  ASSERT_TRUE(rig.device.open_gate(1).ok());
  rig.run();
  const auto results = rig.engine->take_results();
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].id, *early);
  EXPECT_EQ(results[1].id, *late);
}

// Lanes that need each other, copies that wait, held compute: nothing outlives the engine. Under
// ASan this also says that no copy reaches a slab that is gone.
TEST(Engine, DestroyingItWithOpenTransfersDrains) {
  Rig rig({.lane_chunks = 2});
  rig.store(0, Blocks{2, 3}, 1);
  const auto busy = [&](BlockId first) {
    const auto offload = rig.engine->offload(keys(first, 4), range(first, 8));
    const auto load = rig.engine->load(keys(0, 1), Blocks{first, first + 1});
    EXPECT_TRUE(offload.ok() && load.ok());
  };
  busy(8);
  rig.engine->note_write(range(16, 8), rig.hold(1));
  busy(16);
  rig.engine.reset();
  ASSERT_TRUE(rig.device.open_gate(1).ok());
  EXPECT_TRUE(rig.all_are(Blocks{8, 9}, 1));
}

}  // namespace
}  // namespace kvroof
