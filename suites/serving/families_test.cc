// SPDX-License-Identifier: Apache-2.0
// Sessions of models whose layers keep their KV differently, and of devices with other work to do:
// on the made-up simulator, with contents that move.
#include <gtest/gtest.h>

#include <set>

#include "kernels/prefill/step_plan.h"
#include "suites/serving/kv_contents.h"
#include "suites/serving/restore.h"
#include "suites/serving/test_rig.h"
#include "suites/serving/verify.h"

namespace kvroof {
namespace {

constexpr std::uint32_t kTokens = 40 * kChunkTokens;

// One layer of four sees everything, three the last 20 tokens.
ModelShape windowed() {
  ModelShape shape = small_model();
  shape.layers = 4;
  shape.kinds = {{20, false}, {0, false}, {20, false}, {20, false}};
  return shape;
}

std::unique_ptr<Session> session_of(Device& device, const ModelShape& shape, std::uint32_t batch,
                                    std::uint32_t live = 0, std::uint32_t tokens = kTokens) {
  SessionSpec spec = spec_of(shape, tokens, batch + live);
  spec.dtype = spec.kv_dtype = DType::bf16;
  spec.step_tokens = 64;
  spec.restored = batch;
  spec.host_tier_bytes = session_layouts(shape, spec).front().cache_bytes();
  auto session = Session::create(device, shape, spec);
  EXPECT_TRUE(session.ok()) << session.status().text;
  return std::move(*session);
}

TEST(WindowLayers, LoadTheirLastTokensAlone) {
  const auto device = open_simulator();
  const auto session = session_of(*device, windowed(), 2);
  ASSERT_EQ(session->kv.size(), 2u);
  auto batch = RequestBatch::create(*session, kTokens, 2, 1);
  ASSERT_TRUE(batch.ok()) << batch.status().text;
  const Verification seen = verify_and_offload(*session, *batch);
  ASSERT_TRUE(seen.status.ok()) << seen.status.text;
  EXPECT_EQ(seen.wrong, "");
  // The last token, 319, sees 300 on, which lie in the last three chunks of 8.
  const std::uint64_t blocks = 2ull * 2 * (40 + 3);
  EXPECT_EQ(seen.regions_checked, blocks);
  const auto done = copy(*session, *batch, {});
  ASSERT_TRUE(done.ok()) << done.status().text;
  const std::uint64_t layer = 4ull * 2 * 2 * 16 * 2;  // K and V of a block of 4, 2 heads of 16
  EXPECT_EQ(done->bytes_loaded, 2ull * 2 * (40 * layer + 3 * 3 * layer));
}

TEST(WindowLayers, AFrontAndALoadedEndNeverShareABlock) {
  const auto device = open_simulator();
  const auto session = session_of(*device, windowed(), 1);
  auto batch = RequestBatch::create(*session, kTokens, 1, 1);
  ASSERT_TRUE(batch.ok());
  ASSERT_TRUE(verify_and_offload(*session, *batch).status.ok());
  const ChunkRange range{25, 15};
  const auto& blocks = batch->requests[0].kv[1].blocks;
  const ChunkRange needed = needed_chunks(*session, *batch, range, 1);
  EXPECT_EQ(needed.first, 37u);
  EXPECT_EQ(needed.count, 3u);
  const auto loaded = blocks_of(*session, batch->requests[0], needed, 1);
  const std::set<BlockId> computed(blocks.begin(), blocks.begin() + 25 * 2);
  for (const BlockId block : loaded) EXPECT_FALSE(computed.contains(block));
  EXPECT_LT(computed.size(), 50u) << "blocks before the window are used again";
  const auto done = restore(*session, *batch, range, {});
  ASSERT_TRUE(done.ok()) << done.status().text;
  EXPECT_EQ(done->chunks_loaded, 15u + 3u);
}

TEST(WindowLayers, AHostSaysWhyItDoesNotComputeThem) {
  const auto device = open_host();
  const SessionSpec spec = spec_of(windowed(), kTokens, 1);
  const auto session = Session::create(*device, windowed(), spec);
  EXPECT_EQ(session.code(), Code::unsupported);
  EXPECT_NE(session.status().text.find("window layers"), std::string::npos);
}

TEST(LatentModels, RoundTripTheirLatents) {
  ModelShape shape = small_model();
  shape.kv_heads = shape.heads;
  shape.latent =
      LatentAttention{.q_rank = 24, .kv_rank = 32, .nope_dim = 16, .rope_dim = 8, .v_dim = 16};
  const auto device = open_simulator();
  const auto session = session_of(*device, shape, 1);
  auto batch = RequestBatch::create(*session, kTokens, 1, 1);
  ASSERT_TRUE(batch.ok());
  const Verification seen = verify_and_offload(*session, *batch);
  ASSERT_TRUE(seen.status.ok()) << seen.status.text;
  EXPECT_EQ(seen.wrong, "");
  EXPECT_EQ(copy(*session, *batch, {})->bytes_loaded,
            kTokens * kv_bytes_per_token(shape, DType::bf16));
}

struct Times {
  Restore recompute, copy;
};

Times with_live(std::uint32_t live) {
  const auto device = open_simulator();
  const auto session = session_of(*device, heavy_model(), 1, live);
  auto batch = RequestBatch::create(*session, kTokens, 1, 1, live);
  EXPECT_TRUE(batch.ok());
  EXPECT_TRUE(verify_and_offload(*session, *batch).status.ok());
  return {*recompute(*session, *batch, {}), *copy(*session, *batch, {})};
}

TEST(LiveSequences, DecodeInEveryStepAndWhileOthersLoad) {
  const Times idle = with_live(0), busy = with_live(3);
  EXPECT_EQ(idle.recompute.decode_steps, 0u);
  EXPECT_EQ(busy.recompute.decode_steps, 1u) << "the one that runs as the request arrives";
  EXPECT_GE(busy.copy.decode_steps, 1u);
  EXPECT_GT(busy.recompute.ttft, idle.recompute.ttft);
  EXPECT_GT(busy.copy.ttft, idle.copy.ttft) << "it waits for the step that runs";
  EXPECT_EQ(busy.copy.bytes_loaded, idle.copy.bytes_loaded);
}

TEST(LiveSequences, LieSideBySideSoThatOneOpAttendsForAll) {
  constexpr std::uint32_t kOdd = kTokens - 3;  // the last block isn't full
  const auto device = open_simulator();
  const auto session = session_of(*device, windowed(), 1, 3, kOdd);
  const auto batch = RequestBatch::create(*session, kOdd, 1, 1, 3);
  ASSERT_TRUE(batch.ok()) << batch.status().text;
  std::vector<PrefillRequest> all{batch->requests[0].prefill(*session, kOdd - 1)};
  for (const Request& live : batch->live) all.push_back(live.prefill(*session, kOdd - 1));
  const auto steps = plan_steps(all, 64);
  ASSERT_EQ(session->kv.size(), 2u);
  for (std::size_t group = 0; group < 2; ++group) {
    const auto batches = batch_segments(steps.at(0), all, group, session->kv[group].block_tokens);
    ASSERT_EQ(batches.size(), 2u);
    EXPECT_EQ(batches[0].sequences, 1u) << "the request";
    EXPECT_EQ(batches[1].sequences, 3u);
    std::vector<BlockId> table(batches[1].kv.block_table.bytes / sizeof(BlockId)), rows;
    ASSERT_TRUE(
        read_device(*session, std::as_writable_bytes(std::span(table)), batches[1].kv.block_table)
            .ok());
    for (const Request& live : batch->live) {
      rows.insert(rows.end(), live.kv[group].blocks.begin(), live.kv[group].blocks.end());
    }
    EXPECT_EQ(table, rows);
  }
}

TEST(LiveSequences, AreComputedOnAHostToo) {
  const auto device = open_host();
  SessionSpec spec = spec_of(small_model(), 5 * kChunkTokens, 3);
  auto session = Session::create(*device, small_model(), spec);
  ASSERT_TRUE(session.ok()) << session.status().text;
  auto batch = RequestBatch::create(**session, 5 * kChunkTokens, 1, 1, 2);
  ASSERT_TRUE(batch.ok()) << batch.status().text;
  const Verification seen = verify_and_offload(**session, *batch);
  ASSERT_TRUE(seen.status.ok()) << seen.status.text;
  EXPECT_EQ(seen.wrong, "");
  EXPECT_LT(*seen.logit_difference, 1e-5);
  const auto done = recompute(**session, *batch, {});
  ASSERT_TRUE(done.ok()) << done.status().text;
  EXPECT_GE(done->decode_steps, 1u);
}

}  // namespace
}  // namespace kvroof
