// SPDX-License-Identifier: Apache-2.0
// Checksums: whatever spoils a chunk without a word, on its way or where it lies, its load fails.
#include <gtest/gtest.h>

#include "transfer/testing/test_rig.h"

namespace kvroof {
namespace {

constexpr Gate kGate = 7;

RigConfig summed(CopyPath path = CopyPath::dma, Layout layout = Layout::block_first) {
  return {.layout = layout, .copy = path, .integrity = Integrity::always};
}

// The faults of a device on which the copies of one direction end as ok and did not do it.
Faults silent(QueueKind kind, Fault fault) {
  return {.fault_of = [=](QueueKind queue, Ticket) { return queue == kind ? fault : Fault::none; }};
}

// Of a device on which ops that are submitted while `slow` end after what others do behind them,
// where nothing keeps that back.
Faults slow_ops(const bool& slow) {
  return {.fault_of = [&slow](QueueKind queue, Ticket) {
    return slow && queue == QueueKind::compute ? Fault::overtaken : Fault::none;
  }};
}

class EngineIntegrityTest : public testing::TestWithParam<std::tuple<CopyPath, Layout>> {
 protected:
  RigConfig config() const { return summed(std::get<0>(GetParam()), std::get<1>(GetParam())); }
};

TEST_P(EngineIntegrityTest, GoodChunksAreCheckedAndServed) {
  Rig rig(config());
  rig.store(1, range(0, 2), 5);
  rig.store(2, range(2, 2), 6);
  EXPECT_TRUE(rig.fetch(1, range(10, 2)));
  EXPECT_TRUE(rig.fetch(2, range(12, 2)));
  EXPECT_TRUE(rig.all_are(range(10, 2), 5) && rig.all_are(range(12, 2), 6));
  EXPECT_EQ(rig.engine->counters().chunks_summed, 2u);
  EXPECT_EQ(rig.engine->counters().chunks_checked, 2u);
  EXPECT_EQ(rig.engine->counters().chunks_corrupt, 0u);
}

TEST_P(EngineIntegrityTest, WhatACopySpoilsInSilenceIsNeverServed) {
  for (const QueueKind kind : {QueueKind::copy_in, QueueKind::copy_out}) {
    for (const Fault fault : {Fault::silent_nothing, Fault::silent_short, Fault::silent_garbled}) {
      Rig rig(config(), silent(kind, fault));
      rig.wait(rig.fill(range(10, 2), 0xaa));
      rig.store(1, range(0, 2), 5);
      EXPECT_FALSE(rig.fetch(1, range(10, 2))) << name(fault);
      EXPECT_EQ(rig.engine->fences_for_read(range(10, 2)).code(), Code::failed);
      EXPECT_EQ(rig.engine->counters().chunks_corrupt, 1u);
      EXPECT_EQ(rig.engine->counters().chunks_failed, 1u);
      EXPECT_EQ(rig.engine->counters().chunks_loaded, 0u);
      EXPECT_FALSE(rig.holds(1));  // nor tried again
      EXPECT_EQ(rig.engine->tier_use().visible, 0u);
    }
  }
}

// Of chunk 1, block 1 alone; of chunk 2, block 0.
TEST_P(EngineIntegrityTest, AChunkLoadedInPartIsCheckedWhole) {
  Rig rig(config());
  rig.store(1, range(0, 2), 5);
  rig.store(2, range(2, 2), 6);
  const auto load = rig.engine->load(keys(1, 2), range(10, 2), {.skip_blocks = 1});
  EXPECT_TRUE(finish(rig, load).status.ok());
  EXPECT_TRUE(rig.all_are(range(10, 1), 5) && rig.all_are(range(11, 1), 6));
  EXPECT_EQ(rig.engine->counters().chunks_checked, 2u);
}

TEST_P(EngineIntegrityTest, NobodyIsGivenFencesOnALoadThatIsNotYetCompared) {
  Rig rig(config());
  rig.store(1, range(0, 2), 5);
  rig.engine->note_read(range(10, 2), rig.hold(kGate));
  const auto load = rig.engine->load(keys(1, 1), range(10, 2));
  EXPECT_EQ(rig.engine->fences_for_read(range(10, 2)).code(), Code::busy);
  EXPECT_TRUE(rig.engine->fences_for_write(range(10, 2)).ok());  // their bytes are not needed
  EXPECT_EQ(rig.device.open_gate(kGate).code, Code::ok);
  EXPECT_TRUE(finish(rig, load).status.ok());
  EXPECT_TRUE(rig.engine->fences_for_read(range(10, 2))->empty());
}

// They must not be taken for good before the load is.
TEST_P(EngineIntegrityTest, BlocksOfASpoiltLoadAreNotOffloaded) {
  Rig rig(config(), silent(QueueKind::copy_in, Fault::silent_garbled));
  rig.store(1, range(0, 2), 5);
  const auto load = rig.engine->load(keys(1, 1), range(10, 2));
  const auto offload = rig.engine->offload(keys(7, 1), range(10, 2));
  EXPECT_EQ(finish(rig, load).failed_chunks, 1u);
  EXPECT_EQ(finish(rig, offload).status.code, Code::aborted);
  EXPECT_FALSE(rig.holds(7));
}

// The sum of the first would have some of the second.
TEST_P(EngineIntegrityTest, LoadsIntoTheSameBlocksAreComparedOneByOne) {
  bool slow = false;
  Rig rig(config(), slow_ops(slow));
  for (std::uint64_t n = 0; n < 4; ++n) rig.store(n, range(0, 2), static_cast<std::uint8_t>(n));
  slow = true;
  std::vector<Result<TransferId>> loads;
  for (std::uint64_t n = 0; n < 4; ++n) {
    loads.push_back(rig.engine->load(keys(n, 1), range(10, 2)));
  }
  for (const auto& load : loads) EXPECT_TRUE(finish(rig, load).status.ok());
  EXPECT_EQ(rig.engine->counters().chunks_corrupt, 0u);
  EXPECT_TRUE(rig.all_are(range(10, 2), 3));
}

TEST_P(EngineIntegrityTest, AWriterWaitsUntilWhatItOverwritesIsSummed) {
  bool slow = false;
  Rig rig(config(), slow_ops(slow));
  const auto write_over = [&](const Blocks& blocks) {
    slow = false;
    const auto fences = rig.engine->fences_for_write(blocks);
    ASSERT_TRUE(fences.ok());
    EXPECT_EQ(fences->size(), 1u);
    rig.engine->note_write(blocks, rig.fill(blocks, 0xbb, *fences));
  };
  rig.engine->note_write(range(0, 2), rig.fill(range(0, 2), 5));
  slow = true;
  const auto offload = rig.engine->offload(keys(1, 1), range(0, 2));
  write_over(range(0, 2));
  EXPECT_TRUE(finish(rig, offload).status.ok());
  slow = true;
  const auto load = rig.engine->load(keys(1, 1), range(10, 2));
  write_over(range(10, 2));
  EXPECT_TRUE(finish(rig, load).status.ok());
  EXPECT_EQ(rig.engine->counters().chunks_corrupt, 0u);
  EXPECT_TRUE(rig.all_are(range(10, 2), 0xbb));
}

INSTANTIATE_TEST_SUITE_P(
    Paths, EngineIntegrityTest,
    testing::Combine(testing::Values(CopyPath::dma, CopyPath::kernel, CopyPath::staged),
                     testing::Values(Layout::block_first, Layout::layer_first)));

TEST(EngineIntegrity, OfSampledChunksOneInSixteenIsChecked) {
  RigConfig config{.tier_chunks = 64, .integrity = Integrity::sampled};
  Rig rig(config);
  std::uint64_t summed = 0;
  for (std::uint64_t n = 0; n < 64; ++n) {
    const ChunkKey key{n, n << 58};  // one in four of these for each value of the highest bits
    rig.engine->note_write(range(0, 2), rig.fill(range(0, 2), static_cast<std::uint8_t>(n)));
    EXPECT_TRUE(finish(rig, rig.engine->offload({&key, 1}, range(0, 2))).status.ok());
    EXPECT_TRUE(finish(rig, rig.engine->load({&key, 1}, range(10, 2))).status.ok());
    summed += has_sum(Integrity::sampled, key);
  }
  EXPECT_EQ(summed, 4u);
  EXPECT_EQ(rig.engine->counters().chunks_summed, summed);
  EXPECT_EQ(rig.engine->counters().chunks_checked, summed);
}

TEST(EngineIntegrity, ASlotsNextChunkDoesNotInheritItsSum) {
  RigConfig config{.tier_chunks = 1, .integrity = Integrity::sampled};
  Rig rig(config);
  const ChunkKey with{1, 1}, without{2, std::uint64_t{1} << 63};
  for (const ChunkKey& key : {with, without}) {
    const auto value = static_cast<std::uint8_t>(key.low);
    rig.engine->note_write(range(0, 2), rig.fill(range(0, 2), value));
    EXPECT_TRUE(finish(rig, rig.engine->offload({&key, 1}, range(0, 2))).status.ok());
    EXPECT_TRUE(finish(rig, rig.engine->load({&key, 1}, range(10, 2))).status.ok());
  }
  EXPECT_EQ(rig.engine->counters().chunks_checked, 1u);
}

TEST(EngineIntegrity, SumsAreOfWholeChunksAndSoNotLoadedByLayer) {
  Rig rig(summed(CopyPath::dma, Layout::layer_first));
  rig.store(1, range(0, 2), 5);
  EXPECT_EQ(rig.engine->load(keys(1, 1), range(10, 2), {.by_layer = true}).code(), Code::invalid);
}

TEST(EngineIntegrity, OffSpoiltChunksAreServed) {  // which is why the others hold
  RigConfig config = summed();
  config.integrity = Integrity::off;
  Rig rig(config, silent(QueueKind::copy_in, Fault::silent_garbled));
  rig.store(1, range(0, 2), 5);
  EXPECT_TRUE(rig.fetch(1, range(10, 2)));
  EXPECT_FALSE(rig.all_are(range(10, 2), 5));
}

}  // namespace
}  // namespace kvroof
