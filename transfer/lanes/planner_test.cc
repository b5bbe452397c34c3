// SPDX-License-Identifier: Apache-2.0
#include "transfer/lanes/planner.h"

#include <gtest/gtest.h>

#include "backends/conformance/null_device.h"

namespace kvroof {
namespace {

// Two layers of one KV head of 4 f32 and 2 tokens a block: planes of 32 bytes, blocks of 128.
KvLayout tiny(Layout layout) {
  return {.layout = layout,
          .dtype = DType::f32,
          .layers = 2,
          .kv_heads = 1,
          .head_dim = 4,
          .block_tokens = 2,
          .blocks = 8};
}

struct PlannerTest : testing::Test {
  std::unique_ptr<Buffer> make(MemoryKind kind) {
    return std::move(*device->allocate({.kind = kind, .bytes = 4096}));
  }

  // (cache offset, chunk offset, bytes) of each region, seen from either side.
  using Triples = std::vector<std::vector<std::uint64_t>>;
  Triples offload(Layout layout, std::vector<BlockId> blocks) {
    std::vector<Region> regions;
    Planner(tiny(layout), *cache).plan_offload(blocks, {tier.get(), 1000, 512}, regions);
    Triples triples;
    for (const Region& region : regions) {
      EXPECT_EQ(region.source.buffer, cache.get());
      EXPECT_EQ(region.destination.buffer, tier.get());
      EXPECT_EQ(region.source.bytes, region.destination.bytes);
      triples.push_back(
          {region.source.offset, region.destination.offset - 1000, region.source.bytes});
    }
    return triples;
  }

  std::unique_ptr<Device> device = make_null_device();
  std::unique_ptr<Buffer> cache = make(MemoryKind::device), tier = make(MemoryKind::pinned);
};

TEST_F(PlannerTest, BlockFirstIsOneRegionABlock) {
  const Triples expected = {{5 * 128, 0, 128}, {1 * 128, 128, 128}, {3 * 128, 256, 128}};
  EXPECT_EQ(offload(Layout::block_first, {5, 1, 3}), expected);
}

TEST_F(PlannerTest, BlockFirstNeighboursAreOneRegion) {
  const Triples expected = {{2 * 128, 0, 3 * 128}, {7 * 128, 3 * 128, 128}};
  EXPECT_EQ(offload(Layout::block_first, {2, 3, 4, 7}), expected);
}

TEST_F(PlannerTest, DescendingBlocksAreNotNeighbours) {
  const Triples expected = {{3 * 128, 0, 128}, {2 * 128, 128, 128}};
  EXPECT_EQ(offload(Layout::block_first, {3, 2}), expected);
}

// Plane p of block b lies at (p * 8 blocks + b) * 32; the chunk holds block after block. Blocks 2
// and 3 are neighbours in the cache but not in the chunk, where a plane of 2 is followed by
// another.
TEST_F(PlannerTest, LayerFirstIsOneRegionAPlane) {
  const Triples expected = {{64, 0, 32},   {320, 32, 32},  {576, 64, 32},  {832, 96, 32},
                            {96, 128, 32}, {352, 160, 32}, {608, 192, 32}, {864, 224, 32}};
  EXPECT_EQ(offload(Layout::layer_first, {2, 3}), expected);
}

TEST_F(PlannerTest, LoadIsTheInverse) {
  for (const Layout layout : {Layout::block_first, Layout::layer_first}) {
    const Planner planner(tiny(layout), *cache);
    const std::vector<BlockId> blocks = {6, 0, 1, 4};
    std::vector<Region> out, in;
    planner.plan_offload(blocks, {tier.get(), 512, 512}, out);
    planner.plan_load(blocks, {tier.get(), 512, 512}, in);
    ASSERT_EQ(out.size(), in.size());
    for (std::size_t i = 0; i < out.size(); ++i) {
      EXPECT_EQ(out[i].source.offset, in[i].destination.offset);
      EXPECT_EQ(out[i].destination.offset, in[i].source.offset);
      EXPECT_EQ(in[i].source.buffer, tier.get());
      EXPECT_EQ(in[i].destination.buffer, cache.get());
    }
  }
}

}  // namespace
}  // namespace kvroof
