// SPDX-License-Identifier: Apache-2.0
// Loads that go layer by layer: when a layer's readers may begin, and that no failure of one layer
// is hidden by the next.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "transfer/testing/test_rig.h"

namespace kvroof {
namespace {

constexpr LoadOptions kByLayer{.by_layer = true};
constexpr std::uint32_t kLayers = 2, kChunks = 4;

RigConfig apart(std::uint32_t lane_chunks = 16) {
  return {.layout = Layout::layer_first, .lane_chunks = lane_chunks};
}

Faults failing_load(Ticket which) {
  return {.fails = [which](QueueKind kind, Ticket ticket) {
    return kind == QueueKind::copy_in && ticket == which;
  }};
}

struct ByLayer : testing::Test {
  static void store_chunks(Rig& rig) {
    for (std::uint32_t n = 0; n < kChunks; ++n) {
      rig.store(n, range(2 * n, 2), static_cast<std::uint8_t>(n + 1));
    }
  }
};

// The bytes of a block, its regions in index order.
std::vector<std::byte> block_of(const Rig& rig, const std::vector<std::byte>& cache,
                                BlockId block) {
  std::vector<std::byte> bytes;
  for (std::uint32_t i = 0; i < rig.kv.regions_per_block(); ++i) {
    const auto begin = cache.begin() + static_cast<std::ptrdiff_t>(rig.kv.region_offset(block, i));
    bytes.insert(bytes.end(), begin, begin + static_cast<std::ptrdiff_t>(rig.kv.region_bytes()));
  }
  return bytes;
}

TEST_F(ByLayer, EachByteComesBackWhereItWas) {
  Rig rig(apart());
  std::vector<std::byte> pattern(rig.kv.cache_bytes());
  for (std::size_t i = 0; i < pattern.size(); ++i) pattern[i] = static_cast<std::byte>(i * 7 / 5);
  rig.write_cache(pattern);
  ASSERT_TRUE(finish(rig, rig.engine->offload(keys(0, 3), range(0, 6))).status.ok());
  const Blocks to = {20, 9, 14, 30, 11};
  const auto result =
      finish(rig, rig.engine->load(keys(0, 3), to, {.skip_blocks = 1, .by_layer = true}));
  EXPECT_TRUE(result.status.ok());
  EXPECT_EQ(result.bytes, 5 * rig.kv.block_bytes());
  EXPECT_EQ(result.failed_chunks, 0u);
  EXPECT_EQ(rig.engine->counters().chunks_loaded, 3u);
  const auto cache = rig.read_cache();
  for (BlockId i = 0; i < to.size(); ++i) {
    EXPECT_EQ(block_of(rig, cache, to[i]), block_of(rig, pattern, i + 1)) << i;
  }
}

TEST_F(ByLayer, AReaderOfALayerDoesNotWaitForTheNext) {
  Rig rig(apart());
  store_chunks(rig);
  const TransferId load = *rig.engine->load(keys(0, kChunks), range(10, 8), kByLayer);
  const auto first = rig.engine->fences_for_read(range(10, 8), 0);
  ASSERT_TRUE(first.ok());
  for (const Point& point : *first) rig.wait(point);
  EXPECT_TRUE(rig.engine->poll().ok());
  EXPECT_TRUE(rig.engine->fences_for_read(range(10, 8), 0)->empty());
  EXPECT_FALSE(rig.engine->fences_for_read(range(10, 8), 1)->empty());
  EXPECT_FALSE(rig.engine->fences_for_read(range(10, 8))->empty());
  EXPECT_TRUE(rig.engine->wait(load, Nanos::max())->status.ok());
  EXPECT_TRUE(rig.engine->fences_for_read(range(10, 8))->empty());
}

TEST_F(ByLayer, LayersThatWaitInTheLaneKeepOnlyTheirOwnReadersWaiting) {
  Rig rig(apart(2));  // four copies of a layer
  store_chunks(rig);
  const TransferId load = *rig.engine->load(keys(0, kChunks), range(10, 8), kByLayer);
  EXPECT_TRUE(rig.engine->fences_for_read(range(10, 8), 0).ok());
  EXPECT_EQ(rig.engine->fences_for_read(range(10, 8), 1).code(), Code::busy);
  EXPECT_EQ(rig.engine->fences_for_write(range(10, 8)).code(), Code::busy);
  EXPECT_TRUE(rig.engine->wait(load, Nanos::max())->status.ok());
}

TEST_F(ByLayer, AWriterWaitsForTheLastLayer) {
  Rig rig(apart());
  store_chunks(rig);
  const TransferId load = *rig.engine->load(keys(0, kChunks), range(10, 8), kByLayer);
  const auto fences = rig.engine->fences_for_write(range(10, 8));
  ASSERT_TRUE(fences.ok());
  rig.engine->note_write(range(10, 8), rig.fill(range(10, 8), 0xcc, *fences));
  EXPECT_TRUE(rig.engine->wait(load, Nanos::max())->status.ok());
  EXPECT_TRUE(rig.all_are(range(10, 8), 0xcc));
}

// Whichever copy fails: its chunk has failed, once, for readers of that layer and of those behind.
TEST_F(ByLayer, AFailureOfOneLayerIsTheChunks) {
  for (Ticket which = 1; which <= kLayers * kChunks; ++which) {
    SCOPED_TRACE(which);
    Rig rig(apart(), failing_load(which));
    store_chunks(rig);
    const auto result = finish(rig, rig.engine->load(keys(0, kChunks), range(10, 8), kByLayer));
    EXPECT_EQ(result.status.code, Code::failed);
    EXPECT_EQ(result.failed_chunks, 1u);
    EXPECT_EQ(rig.engine->counters().chunks_failed, 1u);
    EXPECT_EQ(rig.engine->counters().chunks_loaded, kChunks - 1);
    const std::uint32_t layer = static_cast<std::uint32_t>(which - 1) / kChunks;
    for (std::uint32_t chunk = 0; chunk < kChunks; ++chunk) {
      const bool failed = (which - 1) % kChunks == chunk;
      const Blocks blocks = range(10 + 2 * chunk, 2);
      for (std::uint32_t of = 0; of < kLayers; ++of) {
        const bool bad = failed && of >= layer;
        EXPECT_EQ(rig.engine->fences_for_read(blocks, of).ok(), !bad) << chunk << " " << of;
      }
      EXPECT_EQ(rig.engine->fences_for_read(blocks).ok(), !failed) << chunk;
    }
    EXPECT_EQ(rig.engine->lookup(keys(0, kChunks)), kChunks);  // the tier's bytes are as they were
  }
}

TEST_F(ByLayer, WhatReadsBehindAFailedLayerIsAborted) {
  Rig rig(apart(), failing_load(1));
  store_chunks(rig);
  const TransferId load = *rig.engine->load(keys(0, 1), range(10, 2), kByLayer);
  const auto fences = rig.engine->fences_for_read(range(10, 2), kLayers - 1);
  ASSERT_TRUE(fences.ok());  // nothing has been heard of it
  const Point read = rig.read(range(10, 2), *fences);
  rig.wait(read);
  std::vector<Completion> done(16);
  const auto count = rig.reader->reap(done);
  ASSERT_TRUE(count.ok() && *count > 0);
  EXPECT_EQ(done[*count - 1].status.code, Code::aborted);
  EXPECT_FALSE(rig.engine->wait(load, Nanos::max())->status.ok());
}

TEST_F(ByLayer, ACancelledLoadCountsItsChunksOnce) {
  Rig rig(apart(2));  // four copies of a layer: the first layer's
  store_chunks(rig);
  const TransferId load = *rig.engine->load(keys(0, kChunks), range(10, 8), kByLayer);
  EXPECT_TRUE(rig.engine->cancel(load).ok());
  const auto result = rig.engine->wait(load, Nanos::max());
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->status.code, Code::aborted);
  EXPECT_EQ(result->failed_chunks, kChunks);
  EXPECT_EQ(rig.engine->counters().chunks_dropped, kChunks);
  EXPECT_EQ(result->bytes, kChunks * 2 * rig.kv.block_bytes() / kLayers);
  EXPECT_TRUE(rig.engine->fences_for_read(range(10, 8), 0).ok());
  EXPECT_EQ(rig.engine->fences_for_read(range(10, 8)).code(), Code::failed);
}

TEST_F(ByLayer, AChunkIsHandedOverWithItsLastLayer) {
  RigConfig config = apart(2);
  config.store = StorePolicy::on_evict;
  Rig rig(config);
  rig.engine->note_write(range(0, 8), rig.fill(range(0, 8), 3));
  ASSERT_TRUE(
      finish(rig, rig.engine->offload(keys(0, kChunks), range(0, 8), {.offer = Offer::evicted}))
          .status.ok());
  ASSERT_EQ(rig.engine->lookup(keys(0, kChunks)), kChunks);
  const TransferId load = *rig.engine->load(keys(0, kChunks), range(10, 8), kByLayer);
  const auto first = rig.engine->fences_for_read(range(10, 8), 0);
  ASSERT_TRUE(first.ok());
  for (const Point& point : *first) rig.wait(point);
  EXPECT_TRUE(rig.engine->poll().ok());
  EXPECT_EQ(rig.engine->lookup(keys(0, kChunks)), kChunks);
  EXPECT_TRUE(rig.engine->wait(load, Nanos::max())->status.ok());
  EXPECT_EQ(rig.engine->lookup(keys(0, kChunks)), 0u);
  EXPECT_EQ(rig.engine->counters().chunks_handed_over, kChunks);
}

TEST_F(ByLayer, LayersThatAreOneRegionAreRefused) {
  Rig rig;
  store_chunks(rig);
  EXPECT_EQ(rig.engine->load(keys(0, 1), range(10, 2), kByLayer).code(), Code::invalid);
  EXPECT_TRUE(rig.engine->load(keys(0, 1), range(10, 2)).ok());
}

TEST_F(ByLayer, AStagedCopyIsRefused) {
  RigConfig config = apart();
  config.copy = CopyPath::staged;
  Rig rig(config);
  store_chunks(rig);
  EXPECT_EQ(rig.engine->load(keys(0, 1), range(10, 2), kByLayer).code(), Code::invalid);
}

TEST_F(ByLayer, ALayerThatIsNoneIsRefused) {
  Rig rig(apart());
  EXPECT_EQ(rig.engine->fences_for_read(range(0, 1), kLayers).code(), Code::invalid);
}

}  // namespace
}  // namespace kvroof
