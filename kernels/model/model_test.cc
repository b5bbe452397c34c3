// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>

#include "kernels/model/kv_layout.h"
#include "kernels/model/model_shape.h"

namespace kvroof {
namespace {

ModelShape llama_8b() {
  ModelShape s;
  s.layers = 32, s.hidden = 4096, s.heads = 32, s.kv_heads = 8, s.head_dim = 128;
  s.intermediate = 14336, s.vocab = 128256;
  return s;
}

ModelShape tiny() {
  ModelShape s;
  s.layers = 3, s.hidden = 8, s.heads = 4, s.kv_heads = 2, s.head_dim = 2;
  s.intermediate = 12, s.vocab = 17;
  return s;
}

// Counts multiply-adds one loop at a time, as a plain implementation would run them.
double flops_by_loops(const ModelShape& s, std::uint64_t past, std::uint64_t tokens) {
  double adds = 0;
  for (std::uint32_t layer = 0; layer < s.layers; ++layer) {
    for (std::uint64_t t = 0; t < tokens; ++t) {
      for (std::uint32_t o = 0; o < (s.heads + 2 * s.kv_heads) * s.head_dim; ++o) adds += s.hidden;
      for (std::uint32_t o = 0; o < s.hidden; ++o) adds += s.heads * s.head_dim;
      for (std::uint32_t o = 0; o < 2 * s.intermediate; ++o) adds += s.hidden;
      for (std::uint32_t o = 0; o < s.hidden; ++o) adds += s.intermediate;
      for (std::uint64_t key = 0; key <= past + t; ++key) adds += 2.0 * s.heads * s.head_dim;
    }
  }
  return 2 * adds;
}

TEST(ModelShape, CountsLlama8b) {
  EXPECT_EQ(kv_bytes_per_token(llama_8b(), DType::bf16), 131072u);
  EXPECT_EQ(body_parameters(llama_8b()), 6979321856u);   // 6.979e9 by the published geometry
  EXPECT_EQ(total_parameters(llama_8b()), 8030261248u);  // what the checkpoint's own index says
}

TEST(ModelShape, FlopsEqualABruteForceCount) {
  EXPECT_DOUBLE_EQ(prefill_flops(tiny(), 0, 5), flops_by_loops(tiny(), 0, 5));
  EXPECT_DOUBLE_EQ(prefill_flops(tiny(), 7, 3), flops_by_loops(tiny(), 7, 3));
}

TEST(ModelShape, StepsAddUpToTheWhole) {
  EXPECT_DOUBLE_EQ(prefill_flops(tiny(), 0, 11),
                   prefill_flops(tiny(), 0, 4) + prefill_flops(tiny(), 4, 7));
}

// Every byte of the cache belongs to exactly one (block, region), and the ops find each plane
// there.
void expect_regions_tile_the_cache(Layout layout) {
  const KvLayout kv = make_kv_layout(tiny(), DType::bf16, layout, 4, 5);
  std::set<std::uint64_t> starts;
  for (std::uint32_t block = 0; block < kv.blocks; ++block)
    for (std::uint32_t r = 0; r < kv.regions_per_block(); ++r)
      starts.insert(kv.region_offset(block, r));
  ASSERT_EQ(starts.size() * kv.region_bytes(), kv.cache_bytes());
  EXPECT_EQ(*starts.begin(), 0u);
  EXPECT_EQ(*starts.rbegin(), kv.cache_bytes() - kv.region_bytes());
  for (std::uint32_t layer = 0; layer < kv.layers; ++layer) {
    const PagedKv paged = kv.paged(layer);
    const std::uint64_t inside = layout == Layout::block_first ? 2 * layer * kv.plane_bytes() : 0;
    const std::uint32_t region = layout == Layout::block_first ? 0 : 2 * layer;
    EXPECT_EQ(paged.k_offset + 3 * paged.block_stride, kv.region_offset(3, region) + inside);
  }
}

TEST(KvLayout, BlockFirstTilesTheCache) { expect_regions_tile_the_cache(Layout::block_first); }
TEST(KvLayout, LayerFirstTilesTheCache) { expect_regions_tile_the_cache(Layout::layer_first); }

TEST(KvLayout, RegionBytesOfLlama8b) {
  EXPECT_EQ(make_kv_layout(llama_8b(), DType::bf16, Layout::block_first, 16, 1).region_bytes(),
            2097152u);  // the published 2 MiB
  EXPECT_EQ(make_kv_layout(llama_8b(), DType::bf16, Layout::layer_first, 16, 1).region_bytes(),
            32768u);
}

}  // namespace
}  // namespace kvroof
