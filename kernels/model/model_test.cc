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
class Loops {
 public:
  explicit Loops(const ModelShape& shape) : s_(shape) {}

  double flops(std::uint64_t past, std::uint64_t tokens) {
    for (std::uint32_t layer = 0; layer < s_.layers; ++layer) {
      for (std::uint64_t t = 0; t < tokens; ++t) {
        s_.latent ? latent_projections() : projections();
        attend(past + t, s_.kind(layer).window);
        s_.kind(layer).sparse ? experts() : gated(s_.intermediate);
      }
    }
    return 2 * adds_;
  }

 private:
  void matrix(std::uint32_t out, std::uint32_t in, bool bias = false) {
    for (std::uint32_t o = 0; o < out; ++o) adds_ += in + (bias ? 1 : 0);
  }
  void projections() {
    matrix(s_.heads * s_.head_dim, s_.hidden, s_.biases.qkv);
    matrix(s_.kv_heads * s_.head_dim, s_.hidden, s_.biases.qkv);
    matrix(s_.kv_heads * s_.head_dim, s_.hidden, s_.biases.qkv);
    matrix(s_.hidden, s_.heads * s_.head_dim, s_.biases.output);
  }
  void latent_projections() {
    const LatentAttention& a = *s_.latent;
    const std::uint32_t q_width = s_.heads * (a.nope_dim + a.rope_dim);
    if (a.q_rank > 0) matrix(a.q_rank, s_.hidden);
    matrix(q_width, a.q_rank > 0 ? a.q_rank : s_.hidden);
    matrix(a.kv_rank + a.rope_dim, s_.hidden);
    for (std::uint32_t head = 0; head < s_.heads; ++head) matrix(a.nope_dim + a.v_dim, a.kv_rank);
    matrix(s_.hidden, s_.heads * a.v_dim);
  }
  void attend(std::uint64_t position, std::uint32_t window) {
    const std::uint32_t qk = s_.latent ? s_.latent->nope_dim + s_.latent->rope_dim : s_.head_dim;
    const std::uint32_t v = s_.latent ? s_.latent->v_dim : s_.head_dim;
    for (std::uint64_t key = 0; key <= position; ++key) {
      if (window == 0 || position - key < window) adds_ += static_cast<double>(s_.heads) * (qk + v);
    }
  }
  void gated(std::uint32_t width) {
    matrix(2 * width, s_.hidden, s_.biases.feed_forward);
    matrix(s_.hidden, width, s_.biases.feed_forward);
  }
  void experts() {
    matrix(s_.experts->total, s_.hidden, s_.biases.feed_forward);
    for (std::uint32_t e = 0; e < s_.experts->active + s_.experts->shared; ++e) {
      gated(s_.experts->intermediate);
    }
  }

  const ModelShape& s_;
  double adds_ = 0;
};

ModelShape with_experts() {
  ModelShape s = tiny();
  s.experts = Experts{.total = 6, .active = 2, .shared = 1, .intermediate = 5};
  s.kinds = {{0, false}, {0, true}, {0, true}};
  return s;
}

ModelShape with_windows_and_biases() {
  ModelShape s = with_experts();
  s.kinds = {{3, true}, {0, true}, {3, false}};
  s.biases = {true, true, true};
  return s;
}

ModelShape with_latent(std::uint32_t q_rank) {
  ModelShape s = with_experts();
  s.latent =
      LatentAttention{.q_rank = q_rank, .kv_rank = 6, .nope_dim = 4, .rope_dim = 2, .v_dim = 3};
  return s;
}

TEST(ModelShape, CountsLlama8b) {
  EXPECT_EQ(kv_bytes_per_token(llama_8b(), DType::bf16), 131072u);
  EXPECT_EQ(body_parameters(llama_8b()), 6979321856u);   // 6.979e9 by the published geometry
  EXPECT_EQ(total_parameters(llama_8b()), 8030261248u);  // what the checkpoint's own index says
}

TEST(ModelShape, FlopsEqualABruteForceCountInEachFamily) {
  for (const ModelShape& shape :
       {tiny(), with_experts(), with_windows_and_biases(), with_latent(0), with_latent(5)}) {
    for (const std::uint64_t past : {0u, 1u, 2u, 3u, 7u}) {
      for (const std::uint64_t tokens : {1u, 2u, 5u, 9u}) {
        EXPECT_DOUBLE_EQ(prefill_flops(shape, past, tokens), Loops(shape).flops(past, tokens));
      }
    }
  }
}

TEST(ModelShape, WindowLayersStopGrowing) {
  const ModelShape s = with_windows_and_biases();
  const std::uint64_t layer = 2 * 2 * 2 * 2;  // K and V of 2 heads of 2 in bf16
  EXPECT_EQ(kv_bytes_per_token(s, DType::bf16), 3 * layer);
  EXPECT_EQ(growing_kv_bytes_per_token(s, DType::bf16), layer);
  EXPECT_EQ(kv_bytes(s, DType::bf16, 2), 2 * 3 * layer);
  EXPECT_EQ(kv_bytes(s, DType::bf16, 10), (10 + 2 * 3) * layer);
}

TEST(ModelShape, ALatentIsAllThatIsKept) {
  EXPECT_EQ(kv_bytes_per_token(with_latent(5), DType::bf16), 3 * (6 + 2) * 2);
}

// 8 heads of 128 values and a scale, K and V, in 32 layers.
TEST(ModelShape, EachQuantisedVectorHasAScale) {
  for (const DType dtype : {DType::fp8, DType::int8}) {
    EXPECT_EQ(kv_bytes_per_token(llama_8b(), dtype), 32u * 2 * 8 * (128 + 4));
    EXPECT_EQ(kv_bytes_per_token(with_latent(5), dtype), 3u * (6 + 2 + 4));
    const KvLayout kv = make_kv_layout(llama_8b(), dtype, Layout::block_first, 16, 1);
    EXPECT_EQ(kv.block_bytes(), 16 * kv_bytes_per_token(llama_8b(), dtype));
  }
}

TEST(ModelShape, ARankHoldsItsPart) {
  std::string why;
  const auto part = shard(llama_8b(), 4, why);
  ASSERT_TRUE(part);
  EXPECT_EQ(4 * kv_bytes_per_token(*part, DType::bf16),
            kv_bytes_per_token(llama_8b(), DType::bf16));
  EXPECT_EQ(4 * body_parameters(*part), body_parameters(llama_8b()));
  EXPECT_DOUBLE_EQ(4 * prefill_flops(*part, 7, 100), prefill_flops(llama_8b(), 7, 100));
  const auto sixteen = shard(llama_8b(), 16, why);  // more ranks than KV heads: each holds one
  ASSERT_TRUE(sixteen);
  EXPECT_EQ(sixteen->kv_heads, 1u);
  EXPECT_EQ(8 * kv_bytes_per_token(*sixteen, DType::bf16),
            kv_bytes_per_token(llama_8b(), DType::bf16));
}

TEST(ModelShape, ARankHoldsLatentsWhole) {
  ModelShape s = with_latent(5);
  s.heads = 4, s.intermediate = 8, s.experts->intermediate = 6;
  std::string why;
  const auto part = shard(s, 2, why);
  ASSERT_TRUE(part) << why;
  EXPECT_EQ(kv_bytes_per_token(*part, DType::bf16), kv_bytes_per_token(s, DType::bf16));
  EXPECT_EQ(part->heads, 2u);
  EXPECT_EQ(part->experts->intermediate, 3u);
}

TEST(ModelShape, WhatDoesNotDivideIsNamed) {
  std::string why;
  EXPECT_FALSE(shard(llama_8b(), 3, why));
  EXPECT_EQ(why, "query heads (32)");
  ModelShape s = llama_8b();
  s.kv_heads = 10, s.heads = 40;
  EXPECT_FALSE(shard(s, 8, why));
  EXPECT_EQ(why, "KV heads (10)");
  s = llama_8b();
  s.intermediate = 14338;
  EXPECT_FALSE(shard(s, 4, why));
  EXPECT_EQ(why, "feed-forward width (14338)");
}

TEST(KvGroups, LayersOfAWindowAreOneGroup) {
  const auto groups = kv_groups(with_windows_and_biases());
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].window, 0u);
  EXPECT_EQ(groups[0].layers, std::vector<std::uint32_t>{1});
  EXPECT_EQ(groups[1].window, 3u);
  EXPECT_EQ(groups[1].layers, (std::vector<std::uint32_t>{0, 2}));
  EXPECT_EQ(kv_groups(tiny()).size(), 1u);
}

TEST(KvLayout, ALatentIsOnePlane) {
  const KvLayout kv = make_kv_layout(with_latent(5), DType::bf16, Layout::layer_first, 4, 5);
  EXPECT_EQ(kv.regions_per_block(), 3u);
  EXPECT_EQ(kv.block_bytes(), 4 * kv_bytes_per_token(with_latent(5), DType::bf16));
  EXPECT_EQ(kv.paged(1).k_offset, kv.paged(1).v_offset);
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
