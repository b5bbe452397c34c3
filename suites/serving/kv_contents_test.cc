// SPDX-License-Identifier: Apache-2.0
#include "suites/serving/kv_contents.h"

#include <gtest/gtest.h>

#include "kernels/model/kv_pattern.h"
#include "suites/serving/test_rig.h"
#include "transfer/keys/compatibility.h"

namespace kvroof {
namespace {

constexpr std::uint32_t kTokens = 64;

ModelShape windowed_model() {
  ModelShape shape = small_model();
  shape.kinds = {{0, false}, {16, false}};
  return shape;
}

struct KvContentsTest : testing::TestWithParam<Layout> {
  KvContentsTest() {
    SessionSpec spec = spec_of(windowed_model(), kTokens, 2);
    spec.layout = GetParam();
    session = std::move(*Session::create(*device, windowed_model(), spec));
  }

  // Of a block as it lies in the device's cache, region by region.
  std::vector<std::byte> read_block(std::size_t group, BlockId block) {
    const KvLayout& kv = session->kv[group];
    std::vector<std::byte> copy(kv.block_bytes());
    for (std::uint32_t r = 0; r < kv.regions_per_block(); ++r) {
      const Span from{session->caches[group].get(), kv.region_offset(block, r), kv.region_bytes()};
      EXPECT_TRUE(
          read_device(*session, std::span(copy).subspan(r * from.bytes, from.bytes), from).ok());
    }
    return copy;
  }

  std::unique_ptr<Device> device = open_simulator();
  std::unique_ptr<Session> session;
};

TEST_P(KvContentsTest, ThePatternNamesEveryBlockOfEveryGroup) {
  ASSERT_EQ(session->kv.size(), 2u);
  ASSERT_TRUE(write_pattern(*session).ok());
  std::uint32_t first_layer = 0;
  for (std::size_t group = 0; group < 2; ++group) {
    const KvLayout& kv = session->kv[group];
    for (BlockId block = 0; block < kv.blocks; ++block) {
      const Status status = check_pattern(kv, {block, first_layer}, read_block(group, block));
      EXPECT_TRUE(status.ok()) << status.text;
    }
    first_layer += kv.layers;
  }
}

TEST_P(KvContentsTest, WhatWasLoadedIsWhatWasOffloaded) {
  const auto batch = RequestBatch::create(*session, kTokens, 2, 5);
  ASSERT_TRUE(batch.ok()) << batch.status().text;
  ASSERT_TRUE(write_pattern(*session).ok());
  ASSERT_TRUE(offload(*session, *batch).ok());
  ASSERT_TRUE(wipe(*session, *batch).ok());
  ASSERT_TRUE(load(*session, *batch, all_chunks(*batch)).ok());
  for (const Request& request : batch->requests) {
    for (const BlockId block : request.kv[0].blocks) {
      const Status status = check_pattern(session->kv[0], {block, 0}, read_block(0, block));
      EXPECT_TRUE(status.ok()) << status.text;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Layouts, KvContentsTest,
                         testing::Values(Layout::block_first, Layout::layer_first));

// What a session's values depend on besides its tokens is in its keys.
TEST(SessionRecord, OtherWeightsDtypesGroupsAndDevicesDiffer) {
  const auto device = open_simulator(), host = open_host();
  const SessionSpec spec = spec_of(windowed_model(), kTokens, 1);
  const auto record = [&](Device& on, const SessionSpec& with, std::size_t group = 0) {
    const auto session = std::move(*Session::create(on, windowed_model(), with));
    return digest(session_record(*session, group));
  };
  const Digest128 own = record(*device, spec);
  EXPECT_EQ(own, record(*device, spec));
  SessionSpec other = spec;
  other.seed = 2;
  EXPECT_NE(own, record(*device, other)) << "weights";
  other = spec;
  other.dtype = DType::bf16, other.kv_dtype = DType::bf16;
  EXPECT_NE(own, record(*device, other)) << "dtype";
  EXPECT_NE(own, record(*device, spec, 1)) << "layers";
  ModelShape plain = small_model();
  const auto on_host = std::move(*Session::create(*host, plain, spec_of(plain, kTokens, 1)));
  const auto on_sim = std::move(*Session::create(*device, plain, spec_of(plain, kTokens, 1)));
  EXPECT_NE(digest(session_record(*on_host, 0)), digest(session_record(*on_sim, 0))) << "device";
}

}  // namespace
}  // namespace kvroof
