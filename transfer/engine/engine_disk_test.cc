// SPDX-License-Identifier: Apache-2.0
// The disk tier below the host tier: what is written behind an offload comes back after the host
// tier evicted it and after a restart, and nothing else ever does.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "backends/conformance/scratch.h"
#include "transfer/testing/test_rig.h"

namespace kvroof {
namespace {

using conformance::Scratch;

constexpr std::uint64_t kChunks = 6;

struct EngineDiskTest : testing::Test {
  RigConfig config(std::uint64_t files = 100, std::uint32_t tier_chunks = 2) const {
    RigConfig config{.tier_chunks = tier_chunks};
    config.disk = DiskTierConfig{.path = scratch.path().string(),
                                 .bytes = files * (kChunkHeaderBytes + 4096),
                                 .record = {1, 2}};
    return config;
  }

  // Chunk n of blocks filled with n + 1, each written to disk before the next is stored.
  void store_all(Rig& rig) const {
    for (std::uint64_t n = 0; n < kChunks; ++n) {
      rig.store(n, range(0, 2), static_cast<std::uint8_t>(n + 1));
      rig.run();
    }
  }

  // The n-th chunk, by way of the host tier, holds n + 1.
  static testing::AssertionResult comes_back(Rig& rig, std::uint64_t n) {
    const auto key = keys(n, 1);
    const auto id = rig.engine->prefetch(key);
    if (!id.ok()) return testing::AssertionFailure() << id.status().text;
    const auto fetched = rig.engine->wait(*id, Nanos::max());
    if (!fetched.ok()) return testing::AssertionFailure() << fetched.status().text;
    if (!fetched->status.ok()) return testing::AssertionFailure() << fetched->status.text;
    if (fetched->chunks != 1) return testing::AssertionFailure() << "not reachable";
    if (!rig.fetch(n, range(10, 2))) return testing::AssertionFailure() << "not loaded";
    const bool right = rig.all_are(range(10, 2), static_cast<std::uint8_t>(n + 1));
    return right ? testing::AssertionSuccess() : testing::AssertionFailure() << "other bytes";
  }

  std::filesystem::path file(std::uint64_t n) const {
    return scratch / chunk_file_name(Rig::key(n));
  }

  Scratch scratch;
};

TEST_F(EngineDiskTest, WhatTheHostTierEvictedComesBackInTwoHops) {
  Rig rig(config());
  store_all(rig);
  EXPECT_FALSE(rig.holds(0));
  EXPECT_EQ(rig.engine->disk()->counters().written_chunks, kChunks);
  EXPECT_EQ(rig.engine->load(keys(0, 1), range(10, 2)).code(), Code::invalid)
      << "the accelerator reaches the host tier alone";
  for (std::uint64_t n = 0; n < kChunks; ++n) EXPECT_TRUE(comes_back(rig, n)) << n;
  EXPECT_EQ(rig.engine->counters().chunks_fetched, kChunks);
}

TEST_F(EngineDiskTest, ASumComesBackWithItsChunkAfterARestartToo) {
  for (const bool first : {true, false}) {
    RigConfig summed = config();
    summed.integrity = Integrity::always;
    Rig rig(summed);
    if (first) store_all(rig);
    for (std::uint64_t n = 0; n < kChunks; ++n) EXPECT_TRUE(comes_back(rig, n)) << n;
    EXPECT_EQ(rig.engine->counters().chunks_checked, kChunks);
    EXPECT_EQ(rig.engine->counters().chunks_corrupt, 0u);
  }
}

// Its file is just as it was written, and not what was offloaded.
TEST_F(EngineDiskTest, WhatWasSpoiltBeforeItWasWrittenIsNotServedAndItsFileGoes) {
  RigConfig summed = config();
  summed.integrity = Integrity::always;
  bool spoil = true;
  Rig rig(summed, {.fault_of = [&spoil](QueueKind queue, Ticket) {
            return spoil && queue == QueueKind::copy_out ? Fault::silent_garbled : Fault::none;
          }});
  store_all(rig);
  ASSERT_TRUE(std::filesystem::exists(file(0)));
  EXPECT_FALSE(comes_back(rig, 0));
  EXPECT_EQ(rig.engine->counters().chunks_corrupt, 1u);
  EXPECT_EQ(rig.engine->disk()->counters().torn, 0u);
  rig.run();
  EXPECT_FALSE(std::filesystem::exists(file(0)));
  spoil = false;  // and what is stored again is served
  rig.store(0, range(0, 2), 1);
  rig.run();
  rig.store(1, range(0, 2), 2);
  rig.store(2, range(0, 2), 3);
  EXPECT_TRUE(comes_back(rig, 0));
}

// The disk's rate is a fifth of the link's: of both hops it is most.
TEST_F(EngineDiskTest, EstimatesAddTheDisksRateToTheLinks) {
  Rig rig(config(100, 4));
  store_all(rig);
  EXPECT_FALSE(rig.engine->estimate(Direction::fetch, 2)) << "nothing was read yet";
  const Nanos begin = rig.device.now();
  ASSERT_TRUE(comes_back(rig, 0));
  ASSERT_TRUE(comes_back(rig, 1));
  const Nanos took = (rig.device.now() - begin) / 2;  // a chunk of two blocks, and looking at it
  const auto both = rig.engine->estimate(Direction::fetch, 2);
  const auto load = rig.engine->estimate(Direction::load, 2);
  ASSERT_TRUE(both && load);
  EXPECT_GT(*both, *load * 2);
  EXPECT_LE(*both, took);
  EXPECT_GE(*both, took / 2);
  const auto id = rig.engine->prefetch(keys(2, 2));
  ASSERT_TRUE(id.ok());
  EXPECT_GT(*rig.engine->estimate(Direction::fetch, 2), *both * 3 / 2) << "two are in its way";
  ASSERT_TRUE(rig.engine->wait(*id, Nanos::max()).ok());
  EXPECT_LT(*rig.engine->estimate(Direction::fetch, 2), *both * 3 / 2);
}

TEST_F(EngineDiskTest, ItSurvivesARestart) {
  {
    Rig rig(config());
    store_all(rig);
  }
  Rig again(config());
  EXPECT_FALSE(again.holds(3));
  EXPECT_EQ(again.engine->reachable(keys(0, kChunks + 2)), kChunks);
  for (std::uint64_t n = 0; n < kChunks; ++n) EXPECT_TRUE(comes_back(again, n)) << n;
}

TEST_F(EngineDiskTest, OneFileThatIsSpoiltIsAMissAndNotTriedAgain) {
  Rig rig(config());
  store_all(rig);
  {
    std::fstream stream(file(0), std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(kChunkHeaderBytes + 100);
    stream.put('x');
  }
  EXPECT_FALSE(comes_back(rig, 0));
  EXPECT_EQ(rig.engine->disk()->counters().torn, 1u);
  EXPECT_EQ(rig.engine->counters().chunks_failed, 1u);
  EXPECT_EQ(rig.engine->reachable(keys(0, 1)), 0u);
  rig.run();
  EXPECT_TRUE(comes_back(rig, 1));
  rig.store(0, range(0, 2), 1);  // computed again
  rig.run();
  EXPECT_TRUE(comes_back(rig, 0));
}

TEST_F(EngineDiskTest, FilesOfAnotherRecordAreNeverServed) {
  {
    Rig rig(config());
    store_all(rig);
  }
  RigConfig other = config();
  other.disk->record = {1, 3};
  Rig rig(other);
  for (std::uint64_t n = 0; n < kChunks; ++n) EXPECT_FALSE(comes_back(rig, n)) << n;
  EXPECT_EQ(rig.engine->disk()->counters().read_chunks, rig.engine->disk()->counters().foreign);
}

TEST_F(EngineDiskTest, AFileThatVanishedIsAMiss) {
  Rig rig(config());
  store_all(rig);
  std::filesystem::remove(file(0));
  EXPECT_FALSE(comes_back(rig, 0));
  EXPECT_EQ(rig.engine->disk()->counters().failed_reads, 1u);
  EXPECT_TRUE(comes_back(rig, 1));
}

TEST_F(EngineDiskTest, TheBoundIsKept) {
  Rig rig(config(3));
  store_all(rig);
  EXPECT_LE(rig.engine->disk()->bytes(), rig.engine->disk()->max_bytes());
  std::uint32_t there = 0;
  for (std::uint64_t n = 0; n < kChunks; ++n) there += std::filesystem::exists(file(n)) ? 1 : 0;
  EXPECT_EQ(there, rig.engine->disk()->chunks());
  EXPECT_TRUE(comes_back(rig, kChunks - 1));
}

// Prefetching more than the host tier can hold neither hangs nor takes what is in use.
TEST_F(EngineDiskTest, WhatDoesNotFitIsRefusedAndTheRestArrives) {
  Rig rig(config());
  store_all(rig);
  const auto id = rig.engine->prefetch(keys(0, kChunks));
  ASSERT_TRUE(id.ok());
  const auto result = rig.engine->wait(*id, Nanos::max());
  ASSERT_TRUE(result.ok()) << result.status().text;
  EXPECT_EQ(result->chunks, kChunks);
  rig.run();
  EXPECT_LE(rig.engine->lookup(keys(0, kChunks)), 2u);
  for (std::uint64_t n = 0; n < kChunks; ++n) EXPECT_TRUE(comes_back(rig, n)) << n;
}

TEST_F(EngineDiskTest, WhatIsInTheHostTierIsNotRead) {
  Rig rig(config(100, 8));
  store_all(rig);
  const auto id = rig.engine->prefetch(keys(0, kChunks + 1));
  const auto result = finish(rig, id);
  EXPECT_EQ(result.chunks, kChunks);
  EXPECT_EQ(result.chunks_held, kChunks);
  EXPECT_EQ(rig.engine->disk()->counters().read_chunks, 0u);
}

TEST_F(EngineDiskTest, AFailedReadFailsThePrefetchAlone) {
  Rig rig(config());
  store_all(rig);
  rig.device.faults.fails = [](QueueKind kind, Ticket) { return kind == QueueKind::disk_read; };
  EXPECT_FALSE(comes_back(rig, 0));
  rig.device.faults.fails = nullptr;
  EXPECT_EQ(rig.engine->reachable(keys(0, 1)), 0u) << "it is forgotten";
  EXPECT_TRUE(comes_back(rig, 1));
}

TEST_F(EngineDiskTest, AFailedWriteIsNoChunkOnDisk) {
  Rig rig(config());
  rig.device.faults.fails = [](QueueKind kind, Ticket) { return kind == QueueKind::disk_write; };
  store_all(rig);
  EXPECT_EQ(rig.engine->disk()->counters().failed_writes, kChunks);
  EXPECT_EQ(rig.engine->disk()->chunks(), 0u);
  EXPECT_EQ(rig.engine->reachable(keys(0, 1)), 0u);
  EXPECT_TRUE(rig.fetch(kChunks - 1, range(10, 2))) << "the host tier has it all the same";
}

Faults unending(QueueKind which) {
  return {.fault_of = [which](QueueKind kind, Ticket) {
    return kind == which ? Fault::unending : Fault::none;
  }};
}

TEST_F(EngineDiskTest, AReadThatNeverEndsIsGivenUpAndNoOtherIsBegun) {
  {
    Rig rig(config());
    store_all(rig);
  }
  RigConfig again = config();
  again.copy_timeout = Nanos(1'000'000);
  Rig rig(again, unending(QueueKind::disk_read));
  const auto fetch = rig.engine->prefetch(keys(0, 2));
  const auto result = finish(rig, fetch);
  EXPECT_EQ(result.status.code, Code::lost);
  EXPECT_EQ(result.failed_chunks, 2u);
  EXPECT_EQ(rig.engine->reachable(keys(0, 1)), 0u);
  EXPECT_EQ(finish(rig, rig.engine->prefetch(keys(0, 1))).chunks, 0u);
}

TEST_F(EngineDiskTest, AWriteThatNeverEndsIsGivenUpAndTheHostTierGoesOn) {
  RigConfig bounded = config(100, 8);
  bounded.copy_timeout = Nanos(1'000'000);
  Rig rig(bounded, unending(QueueKind::disk_write));
  store_all(rig);
  (void)rig.device.wait_any({}, rig.device.now() + 2 * bounded.copy_timeout);
  EXPECT_TRUE(rig.engine->poll().ok());
  EXPECT_EQ(rig.engine->disk()->counters().written_chunks, 0u);
  EXPECT_TRUE(rig.engine->open_points().empty());
  for (std::uint64_t n = 0; n < kChunks; ++n) EXPECT_TRUE(rig.fetch(n, range(10, 2))) << n;
  rig.store(10, range(0, 2), 1);
  EXPECT_EQ(rig.engine->disk_lanes().missed_writes, 1u);
  EXPECT_TRUE(rig.fetch(10, range(10, 2)));
}

TEST(EngineDisk, WithoutADiskTierThereIsNothingToPrefetch) {
  Rig rig;
  EXPECT_EQ(rig.engine->prefetch(keys(0, 1)).code(), Code::unsupported);
  rig.store(0, range(0, 2), 1);
  EXPECT_EQ(rig.engine->reachable(keys(0, 2)), 1u);
}

}  // namespace
}  // namespace kvroof
