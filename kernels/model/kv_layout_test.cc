// SPDX-License-Identifier: Apache-2.0
// Every layout and order against plain nested arrays, whose shapes are written out here.
#include "kernels/model/kv_layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>
#include <vector>

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

// Of a vector and its scale: a plain array of vectors, then as many scales.
struct Bytes {
  std::uint64_t vector, scale;
};

Bytes expected_bytes(const KvLayout& kv, const Place& p) {
  const std::uint64_t plane = kTokens * std::uint64_t{kv.kv_heads};
  const std::uint64_t count = kv.order == KvOrder::packed ? 2 * plane : plane;  // of one array
  const std::uint64_t vector = kDim * bytes_of(kv.dtype), scale = is_quantised(kv.dtype) ? 4 : 0;
  const std::uint64_t array = expected(kv, p) / count, inside = expected(kv, p) % count;
  const std::uint64_t start = array * count * (vector + scale);
  return {start + inside * vector, start + count * vector + inside * scale};
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

std::uint64_t strided_scale(const KvLayout& kv, const Place& p) {
  const PagedKv at = kv.paged(static_cast<std::uint32_t>(p.layer));
  return (p.value ? at.v_scale_offset : at.k_scale_offset) + p.block * at.block_stride +
         p.token * at.scale_token_stride + p.head * at.scale_head_stride;
}

// Of the block that each byte of the cache is copied with.
std::vector<std::uint64_t> owners(const KvLayout& kv) {
  std::vector<std::uint64_t> of(kv.cache_bytes(), kBlocks);
  for (std::uint32_t block = 0; block < kBlocks; ++block) {
    for (std::uint32_t r = 0; r < kv.regions_per_block(); ++r)
      for (std::uint64_t at = 0; at < kv.region_bytes(); ++at)
        of.at(kv.region_offset(block, r) + at) = block;
  }
  return of;
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
    const Bytes wanted = expected_bytes(kv, p);
    ASSERT_EQ(strided(kv, p), wanted.vector)
        << "block " << p.block << " layer " << p.layer << " value " << p.value << " token "
        << p.token << " head " << p.head;
    if (is_quantised(kv.dtype)) {
      ASSERT_EQ(strided_scale(kv, p), wanted.scale);
    }
  });
}

// What is copied with a block is all of the block's vectors and scales, and nothing of any other.
TEST_P(KvOrderTest, ABlocksRegionsHoldItsVectorsAlone) {
  const KvLayout kv = layout();
  std::vector<std::uint64_t> owner = owners(kv);
  const auto take = [&](std::uint64_t block, std::uint64_t from, std::uint64_t bytes) {
    for (std::uint64_t at = from; at < from + bytes; ++at) {
      ASSERT_EQ(owner.at(at), block) << at;
      owner[at] = kBlocks;
    }
  };
  for_each_vector(kv.kv_heads, [&](const Place& p) {
    take(p.block, strided(kv, p), kDim * bytes_of(kv.dtype));
    if (is_quantised(kv.dtype)) take(p.block, strided_scale(kv, p), 4);
  });
  EXPECT_EQ(std::count(owner.begin(), owner.end(), kBlocks), std::ssize(owner)) << "bytes are left";
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
                     testing::Values(1u, 2u, 3u),
                     testing::Values(DType::bf16, DType::f32, DType::fp8, DType::int8)));

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
