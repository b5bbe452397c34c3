// SPDX-License-Identifier: Apache-2.0
// Every layout and order against plain nested arrays, whose shapes are written out here.
#include "kernels/model/kv_layout.h"

#include <gtest/gtest.h>

#include <set>
#include <tuple>

namespace kvroof {
namespace {

constexpr std::uint32_t kLayers = 3, kBlocks = 4, kTokens = 5, kDim = 6;

struct Place {
  std::uint64_t block, layer, value, token, head;  // value: 0 of K, 1 of V
};

// Row-major position in an array of the given (index, size) pairs.
std::uint64_t position(std::initializer_list<std::pair<std::uint64_t, std::uint64_t>> axes) {
  std::uint64_t at = 0;
  for (const auto& [index, size] : axes) at = at * size + index;
  return at;
}

std::uint64_t inside_layer(const KvLayout& kv, const Place& p) {
  const std::uint64_t heads = kv.kv_heads;
  switch (kv.order) {
    case KvOrder::nhd:
      return position({{p.token, kTokens}, {p.head, heads}});
    case KvOrder::hnd:
      return position({{p.head, heads}, {p.token, kTokens}});
    case KvOrder::packed:
      return position({{p.token, kTokens}, {p.head, heads}, {p.value, 2}});
  }
  return 0;
}

// In vectors of head_dim, from the cache's first.
std::uint64_t expected(const KvLayout& kv, const Place& p) {
  const std::uint64_t inside = inside_layer(kv, p), plane = kTokens * std::uint64_t{kv.kv_heads};
  const bool packed = kv.order == KvOrder::packed, by_block = kv.layout == Layout::block_first;
  if (packed && by_block)
    return position({{p.block, kBlocks}, {p.layer, kLayers}, {inside, 2 * plane}});
  if (packed) return position({{p.layer, kLayers}, {p.block, kBlocks}, {inside, 2 * plane}});
  if (by_block)
    return position({{p.block, kBlocks}, {p.layer, kLayers}, {p.value, 2}, {inside, plane}});
  return position({{p.layer, kLayers}, {p.value, 2}, {p.block, kBlocks}, {inside, plane}});
}

template <class Visit>
void for_each_vector(std::uint32_t kv_heads, Visit visit) {
  for (std::uint64_t block = 0; block < kBlocks; ++block)
    for (std::uint64_t layer = 0; layer < kLayers; ++layer)
      for (std::uint64_t value = 0; value < 2; ++value)
        for (std::uint64_t token = 0; token < kTokens; ++token)
          for (std::uint64_t head = 0; head < kv_heads; ++head)
            visit(Place{block, layer, value, token, head});
}

std::uint64_t strided(const KvLayout& kv, const Place& p) {
  const PagedKv at = kv.paged(static_cast<std::uint32_t>(p.layer));
  return (p.value ? at.v_offset : at.k_offset) + p.block * at.block_stride +
         p.token * at.token_stride + p.head * at.head_stride;
}

class KvOrderTest
    : public testing::TestWithParam<std::tuple<Layout, KvOrder, std::uint32_t, DType>> {
 protected:
  KvLayout layout() const {
    const auto& [layout, order, kv_heads, dtype] = GetParam();
    KvLayout kv{layout, dtype, kLayers, kv_heads, kDim, kTokens, kBlocks};
    kv.order = order;
    return kv;
  }
};

TEST_P(KvOrderTest, OpsFindEachVectorWhereThePlainArrayHasIt) {
  const KvLayout kv = layout();
  for_each_vector(kv.kv_heads, [&](const Place& p) {
    ASSERT_EQ(strided(kv, p), expected(kv, p) * kDim * bytes_of(kv.dtype))
        << "block " << p.block << " layer " << p.layer << " value " << p.value << " token "
        << p.token << " head " << p.head;
  });
}

// What is copied with a block is all of the block's vectors, and nothing of any other.
TEST_P(KvOrderTest, ABlocksRegionsHoldItsVectorsAlone) {
  const KvLayout kv = layout();
  const std::uint64_t vector = kDim * bytes_of(kv.dtype);
  std::set<std::pair<std::uint64_t, std::uint64_t>> in_regions, of_block;
  for (std::uint32_t block = 0; block < kBlocks; ++block) {
    for (std::uint32_t r = 0; r < kv.regions_per_block(); ++r)
      for (std::uint64_t at = 0; at < kv.region_bytes(); at += vector)
        in_regions.emplace(block, kv.region_offset(block, r) + at);
  }
  for_each_vector(kv.kv_heads, [&](const Place& p) { of_block.emplace(p.block, strided(kv, p)); });
  EXPECT_EQ(in_regions, of_block);
  EXPECT_EQ(in_regions.size() * vector, kv.cache_bytes());
}

// A layer's own regions: the same ones in every block, so that one layer can be copied alone.
TEST_P(KvOrderTest, RegionsFollowTheLayers) {
  const KvLayout kv = layout();
  if (kv.layout == Layout::block_first) {
    EXPECT_EQ(kv.regions_per_block(), 1u);
    return;
  }
  const std::uint32_t a_layer = kv.order == KvOrder::packed ? 1 : 2;
  EXPECT_EQ(kv.regions_per_block(), a_layer * kLayers);
  for (std::uint32_t layer = 0; layer < kLayers; ++layer)
    EXPECT_EQ(kv.region_offset(2, a_layer * layer), strided(kv, {2, layer, 0, 0, 0}));
}

INSTANTIATE_TEST_SUITE_P(
    All, KvOrderTest,
    testing::Combine(testing::Values(Layout::block_first, Layout::layer_first),
                     testing::Values(KvOrder::nhd, KvOrder::hnd, KvOrder::packed),
                     testing::Values(1u, 2u, 3u), testing::Values(DType::bf16, DType::f32)));

TEST(KvOrder, ALatentsOnePlaneHasNothingToPack) {
  KvLayout kv{Layout::layer_first, DType::bf16, kLayers, 1, kDim, kTokens, kBlocks};
  kv.planes = 1;
  const PagedKv nhd = kv.paged(1);
  kv.order = KvOrder::packed;
  const PagedKv packed = kv.paged(1);
  EXPECT_EQ(packed.k_offset, packed.v_offset);
  EXPECT_EQ(packed.k_offset, nhd.k_offset);
  EXPECT_EQ(packed.token_stride, nhd.token_stride);
  EXPECT_EQ(kv.regions_per_block(), kLayers);
}

}  // namespace
}  // namespace kvroof
