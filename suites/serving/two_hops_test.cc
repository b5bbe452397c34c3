// SPDX-License-Identifier: Apache-2.0
// Prefixes that the host tier is too small for and a disk tier holds: they come back whole, by two
// hops, and what can't be read is recomputed.
#include "suites/serving/two_hops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "backends/conformance/scratch.h"
#include "suites/harness/seconds.h"
#include "suites/serving/disk_report.h"
#include "suites/serving/test_rig.h"
#include "suites/serving/verify.h"

namespace kvroof {
namespace {

using conformance::Scratch;

constexpr std::uint32_t kTokens = 66;  // 8 chunks and a rest
constexpr std::uint32_t kChunks = 8;

struct DiskRigConfig {
  std::uint32_t tier_chunks = 3, files = 100, requests = 1;
  StorePolicy store = StorePolicy::immediate;
  Eviction eviction = Eviction::lru;
  bool backed = true;
};

struct DiskRig {
  explicit DiskRig(const DiskRigConfig& config, std::unique_ptr<Device> inner = open_host())
      : device(std::move(inner)) {
    SessionSpec spec = spec_of(small_model(), kTokens, config.requests);
    const std::uint64_t chunk =
        session_layouts(small_model(), spec).front().block_bytes() * spec.blocks_per_chunk;
    spec.host_tier_bytes = config.tier_chunks * chunk;
    spec.host_tier_bounded = true;
    spec.store = config.store;
    spec.eviction = config.eviction;
    spec.disk_bytes = config.files * (chunk + kChunkHeaderBytes);
    spec.disk_path = scratch.path().string();
    spec.backed = config.backed;
    auto made = Session::create(device, small_model(), spec);
    EXPECT_TRUE(made.ok()) << made.status().text;
    session = std::move(*made);
    batch = std::move(*RequestBatch::create(*session, kTokens, config.requests, 5));
  }

  Scratch scratch;
  FaultyDevice device;
  std::unique_ptr<Session> session;
  RequestBatch batch;
};

void expect_whole(const DiskRigConfig& config) {
  DiskRig rig(config);
  const Verification seen = verify_and_offload(*rig.session, rig.batch);
  ASSERT_TRUE(seen.status.ok()) << seen.status.text;
  EXPECT_EQ(seen.wrong, "");
  EXPECT_EQ(seen.held.count, kChunks);
  EXPECT_EQ(seen.regions_checked, kChunks * 2u * config.requests);
  ASSERT_TRUE(seen.logit_difference.has_value());
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(evict(*rig.session, rig.batch).ok());
    const auto done = restore(*rig.session, rig.batch, seen.held, {});
    ASSERT_TRUE(done.ok()) << done.status().text;
    EXPECT_EQ(done->chunks_loaded, kChunks * config.requests);
    EXPECT_EQ(done->failed_loads, 0u);
    EXPECT_GE(done->chunks_from_disk + config.tier_chunks, kChunks * config.requests);
  }
}

TEST(TwoHops, BringBackWhatTheHostTierHasNoRoomFor) {
  for (const std::uint32_t chunks : {1u, 2u, 3u, 5u, 7u}) {
    SCOPED_TRACE(chunks);
    expect_whole({.tier_chunks = chunks});
  }
}

TEST(TwoHops, GoWithEveryEvictionAndStorePolicy) {
  for (const Eviction eviction : {Eviction::lru, Eviction::arc, Eviction::s3fifo}) {
    for (const StorePolicy store :
         {StorePolicy::immediate, StorePolicy::second_use, StorePolicy::on_evict}) {
      SCOPED_TRACE(std::string(name(eviction)) + " " + std::string(name(store)));
      expect_whole({.tier_chunks = 4, .store = store, .eviction = eviction});
    }
  }
}

TEST(TwoHops, TakeRequestsOneAfterTheOther) { expect_whole({.tier_chunks = 3, .requests = 3}); }

TEST(TwoHops, AHostTierWithRoomForAllReadsNothing) {
  DiskRig rig({.tier_chunks = kChunks});
  const Verification seen = verify_and_offload(*rig.session, rig.batch);
  ASSERT_TRUE(evict(*rig.session, rig.batch).ok());
  const auto done = restore(*rig.session, rig.batch, seen.held, {});
  ASSERT_TRUE(done.ok());
  EXPECT_EQ(done->chunks_loaded, kChunks);
  EXPECT_EQ(done->chunks_from_disk, 0u);
  EXPECT_EQ(disk_json(*rig.session)["chunks_written"], kChunks);
}

TEST(TwoHops, ADiskTierThatIsTooSmallHoldsLess) {
  DiskRig rig({.tier_chunks = 2, .files = 4});
  const Verification seen = verify_and_offload(*rig.session, rig.batch);
  ASSERT_TRUE(seen.status.ok()) << seen.status.text;
  EXPECT_EQ(seen.wrong, "");
  EXPECT_LT(seen.held.count, kChunks);
  const Json disk = disk_json(*rig.session);
  EXPECT_GT(disk["chunks_evicted"], 0);
  EXPECT_LE(disk["bytes_used"], disk["bytes"]);
}

// The index has the files, which are gone: each is a miss, and the request is computed.
TEST(TwoHops, FilesThatVanishAreRecomputed) {
  DiskRig rig({});
  const Verification seen = verify_and_offload(*rig.session, rig.batch);
  ASSERT_TRUE(seen.wrong.empty() && seen.held.count == kChunks);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(rig.scratch.path())) {
    if (entry.path().extension() == ".kv") std::filesystem::remove(entry.path());
  }
  ASSERT_TRUE(wipe(*rig.session, rig.batch).ok());
  const auto done = restore(*rig.session, rig.batch, seen.held, {});
  ASSERT_TRUE(done.ok()) << done.status().text;
  EXPECT_EQ(done->failed_loads, 1u);
  std::vector<float> logits(rig.session->shape.vocab);
  const Span from{rig.batch.requests[0].logits.get(), 0, logits.size() * sizeof(float)};
  ASSERT_TRUE(read_device(*rig.session, std::as_writable_bytes(std::span(logits)), from).ok());
  for (std::size_t i = 0; i < logits.size(); ++i) {
    EXPECT_NEAR(logits[i], seen.full_logits[i], 1e-4) << i;
  }
  EXPECT_GT(disk_json(*rig.session)["reads_failed"], 0);
}

TEST(TwoHops, ALoadThatFailsBehindAReadIsRecomputed) {
  DiskRig rig({});
  const Verification seen = verify_and_offload(*rig.session, rig.batch);
  ASSERT_TRUE(evict(*rig.session, rig.batch).ok());
  int copies = 0;
  rig.device.faults.fails = [&copies](QueueKind kind, Ticket) {
    return kind == QueueKind::copy_in && ++copies == 5;
  };
  const auto done = restore(*rig.session, rig.batch, seen.held, {});
  ASSERT_TRUE(done.ok()) << done.status().text;
  EXPECT_EQ(done->failed_loads, 1u);
  EXPECT_LT(done->chunks_loaded, kChunks);
}

// The made-up disk reads 2 GB/s, a fifth of the link's rate, and a file takes 10 us at least; with
// data off there is no directory.
TEST(TwoHops, AModelledDiskIsWhatTheyWaitFor) {
  DiskRig rig({.tier_chunks = 6, .backed = false}, open_simulator());
  const Verification seen = verify_and_offload(*rig.session, rig.batch);
  ASSERT_TRUE(seen.status.ok()) << seen.status.text;
  EXPECT_EQ(seen.held.count, kChunks);
  const auto done = restore(*rig.session, rig.batch, seen.held, {});
  ASSERT_TRUE(done.ok()) << done.status().text;
  ASSERT_GE(done->chunks_from_disk, 2u);
  const std::uint64_t bytes =
      done->chunks_from_disk * (rig.session->engines[0]->tier().chunk_bytes + 4096);
  EXPECT_GE(seconds(done->disk_reading), static_cast<double>(bytes) / 2e9);
  EXPECT_GE(done->ttft, done->disk_reading);
  const Json disk = disk_json(*rig.session);
  EXPECT_EQ(disk["file_system"], "none");
  EXPECT_EQ(disk["engine"], "virtual");
  EXPECT_TRUE(std::filesystem::is_empty(rig.scratch.path()));
}

TEST(TwoHops, TheRecordHasHowFilesMoved) {
  DiskRig rig({});
  ASSERT_EQ(verify_and_offload(*rig.session, rig.batch).wrong, "");
  const Json disk = disk_json(*rig.session);
  EXPECT_NE(disk["file_system"], "none");
  EXPECT_NE(disk["engine"], "");
  EXPECT_GT(disk["files_direct"].get<int>() + disk["files_buffered"].get<int>(), 0);
  EXPECT_EQ(disk["files_buffered"] == 0, !disk.contains("why_buffered"));
  EXPECT_EQ(disk["chunks_written"], kChunks);
  EXPECT_EQ(disk["writes_missed"], 0);
  EXPECT_EQ(disk["files_torn"], 0);
}

}  // namespace
}  // namespace kvroof
