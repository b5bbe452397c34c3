// SPDX-License-Identifier: Apache-2.0
#include "transfer/keys/chunk_key.h"

#include <gtest/gtest.h>
#include <xxhash.h>

#include <cstring>
#include <numeric>

namespace kvroof {
namespace {

std::vector<std::int32_t> count_to(std::size_t n) {
  std::vector<std::int32_t> tokens(n);
  std::iota(tokens.begin(), tokens.end(), 1);
  return tokens;
}

TEST(ChunkKeys, OnlyWholeChunksHaveKeys) {
  EXPECT_EQ(chunk_keys({}, count_to(15), 8).size(), 1u);
  EXPECT_EQ(chunk_keys({}, count_to(16), 8).size(), 2u);
  EXPECT_TRUE(chunk_keys({}, count_to(7), 8).empty());
  EXPECT_TRUE(chunk_keys({}, {}, 8).empty());
  EXPECT_TRUE(chunk_keys({}, count_to(7), 0).empty());
}

TEST(ChunkKeys, AChangedTokenChangesItsChunkAndAllLaterOnes) {
  const auto before = chunk_keys({}, count_to(32), 8);
  auto tokens = count_to(32);
  tokens[9] = 0;
  const auto after = chunk_keys({}, tokens, 8);
  EXPECT_EQ(before[0], after[0]);
  for (std::size_t i = 1; i < 4; ++i) EXPECT_NE(before[i], after[i]) << i;
}

TEST(ChunkKeys, TheSameTokensAtAnotherPlaceHaveAnotherKey) {
  const std::vector<std::int32_t> tokens(16, 7);
  const auto keys = chunk_keys({}, tokens, 8);
  EXPECT_NE(keys[0], keys[1]);
}

TEST(ChunkKeys, AnotherRecordSharesNoKey) {
  CompatibilityRecord other;
  other.tenant_salt = "b";
  const auto ours = chunk_keys({}, count_to(32), 8), theirs = chunk_keys(other, count_to(32), 8);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NE(ours[i], theirs[i]) << i;
}

// The definition, spelt out: XXH3_128 of the previous key's 16 bytes and then the token ids.
TEST(ChunkKeys, ChainAsDefined) {
  const auto tokens = count_to(8);
  const Digest128 root = digest({});
  unsigned char message[16 + 16];
  std::memcpy(message, &root.low, 8);
  std::memcpy(message + 8, &root.high, 8);
  std::memcpy(message + 16, tokens.data(), 16);
  const XXH128_hash_t first = XXH3_128bits(message, sizeof message);
  std::memcpy(message, &first.low64, 8);
  std::memcpy(message + 8, &first.high64, 8);
  std::memcpy(message + 16, &tokens[4], 16);
  const XXH128_hash_t second = XXH3_128bits(message, sizeof message);
  const std::vector<ChunkKey> expected = {{first.low64, first.high64},
                                          {second.low64, second.high64}};
  EXPECT_EQ(chunk_keys({}, tokens, 4), expected);
}

}  // namespace
}  // namespace kvroof
