// SPDX-License-Identifier: Apache-2.0
#include "transfer/integrity/integrity.h"

#include <gtest/gtest.h>

#include <vector>

namespace kvroof {
namespace {

TEST(Integrity, SamplesOneKeyInSixteenAlwaysTheSame) {
  std::uint32_t summed = 0;
  for (std::uint64_t i = 0; i < 1600; ++i) {
    const ChunkKey key{i, i * 0x9e3779b97f4a7c15u};
    summed += has_sum(Integrity::sampled, key);
    EXPECT_EQ(has_sum(Integrity::sampled, key), has_sum(Integrity::sampled, key));
    EXPECT_TRUE(has_sum(Integrity::always, key));
    EXPECT_FALSE(has_sum(Integrity::off, key));
  }
  EXPECT_NEAR(summed, 100, 10);
}

SumParts parts(Layout layout, std::uint32_t block_tokens, std::uint32_t head_dim) {
  return SumParts::of({{.layout = layout,
                        .dtype = DType::bf16,
                        .layers = 32,
                        .kv_heads = 8,
                        .head_dim = head_dim,
                        .block_tokens = block_tokens,
                        .blocks = 4}});
}

TEST(Integrity, RowsAreHalvedUntilTheyFitACache) {
  const SumParts whole = parts(Layout::block_first, 16, 128);  // 2 MiB
  EXPECT_EQ(whole.part_bytes(), 16384u);
  EXPECT_EQ(whole.parts_of_block(), 128u);
  const SumParts planes = parts(Layout::layer_first, 8, 128);  // 16 KiB
  EXPECT_EQ(planes.parts_of_row, 1u);
  EXPECT_EQ(planes.parts_of_block(), 64u);
  const SumParts odd = parts(Layout::layer_first, 5, 459);  // 36,720 bytes: 2^4 * 2295
  EXPECT_EQ(odd.part_bytes(), 9180u);
}

TEST(Integrity, AChunksSumDependsOnEachPartAndOnTheirOrder) {
  const std::vector<std::uint64_t> sums{1, 2, 3}, swapped{2, 1, 3}, other{1, 2, 4};
  EXPECT_NE(sum_of_chunk(sums), sum_of_chunk(swapped));
  EXPECT_NE(sum_of_chunk(sums), sum_of_chunk(other));
  EXPECT_NE(sum_of_chunk(sums), 0u);
}

}  // namespace
}  // namespace kvroof
