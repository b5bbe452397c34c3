// SPDX-License-Identifier: Apache-2.0
// Hits under keys of 8 bits, where collisions are the rule, against a plain map of true prefixes.
#include "transfer/tier/token_store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>

#include "backends/conformance/null_device.h"
#include "transfer/keys/chunk_key.h"
#include "transfer/tier/host_tier.h"

namespace kvroof {
namespace {

constexpr std::uint32_t kChunkTokens = 2, kChunks = 6, kSlots = 100;

using Ids = std::vector<std::int32_t>;
using Prefix = std::pair<std::size_t, Ids>;  // tenant, tokens

CompatibilityRecord tenant(std::size_t index) {
  CompatibilityRecord record;
  record.tenant_salt = std::to_string(index);
  return record;
}

// Chunks of two of three ids, so that equal chunks behind other prefixes are common.
Ids any_tokens(std::mt19937& random) {
  Ids ids(kChunkTokens * kChunks);
  std::ranges::generate(ids, [&] { return static_cast<std::int32_t>(random() % 3); });
  return ids;
}

struct Counts {
  std::size_t hits = 0, other_chunk = 0, other_prefix = 0;  // the latter two: of equal keys
};

class CollidingTier {
 public:
  // What of the request is in the tier by its tokens must be so by the map, and the reverse; then
  // what is missing is stored.
  void request(std::size_t tenant_index, const Ids& ids, Counts& counts) {
    const CompatibilityRecord record = tenant(tenant_index);
    const auto keys = chunk_keys(record, ids, kChunkTokens, KeyHash::narrow(8));
    std::vector<PrefixHash> prefixes;
    PrefixHasher{record}(ids, kChunkTokens, prefixes);
    const ChunkTokens all{ids, prefixes};
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const Prefix prefix{tenant_index, Ids(ids.begin(), ids.begin() + (i + 1) * kChunkTokens)};
      const SlotId held = tier_.find(keys[i]);
      if (held == kNoSlot) {
        put(keys[i], all.of(i, 1), prefix);
      } else {
        compare(held, all.of(i, 1), prefix, counts);
      }
    }
  }

 private:
  void compare(SlotId slot, const ChunkTokens& chunk, const Prefix& prefix, Counts& counts) {
    const Prefix& truth = truth_[slot];
    ASSERT_EQ(store_.matches(slot, chunk), truth == prefix);
    const bool own_equal =
        std::equal(chunk.tokens.rbegin(), chunk.tokens.rend(), truth.second.rbegin());
    ++(truth == prefix ? counts.hits : own_equal ? counts.other_prefix : counts.other_chunk);
  }

  void put(const ChunkKey& key, const ChunkTokens& chunk, const Prefix& prefix) {
    const SlotId slot = tier_.reserve(key);
    ASSERT_NE(slot, kNoSlot);
    store_.store(slot, chunk);
    truth_[slot] = prefix;
    tier_.commit(slot);
    tier_.release(slot);
  }

  std::unique_ptr<Device> device_ = make_null_device();
  HostTier tier_ = std::move(*HostTier::create(*device_, {64, 64 * kSlots, false}));
  TokenStore store_{kSlots, kChunkTokens};
  std::vector<Prefix> truth_ = std::vector<Prefix>(kSlots);
};

TEST(TokenStore, NoCollisionOfKeysPassesForAHit) {
  std::mt19937 random(7);
  CollidingTier tier;
  Counts counts;
  for (int i = 0; i < 5000; ++i) tier.request(random() % 2, any_tokens(random), counts);
  EXPECT_GT(counts.hits, 1000u);
  EXPECT_GT(counts.other_chunk, 1000u);
  EXPECT_GT(counts.other_prefix, 1000u);
}

TEST(TokenStore, ASlotThatIsUsedAgainForgetsItsFirstChunk) {
  TokenStore store(2, kChunkTokens);
  const Ids first{1, 2}, second{1, 3};
  std::vector<PrefixHash> of_first, of_second;
  const PrefixHasher hasher{CompatibilityRecord{}};
  hasher(first, kChunkTokens, of_first);
  hasher(second, kChunkTokens, of_second);
  store.store(1, {first, of_first});
  EXPECT_TRUE(store.matches(1, {first, of_first}));
  store.store(1, {second, of_second});
  EXPECT_FALSE(store.matches(1, {first, of_first}));
  EXPECT_TRUE(store.matches(1, {second, of_second}));
}

// Ids are compared themselves: not even equal prefix hashes make another chunk a hit.
TEST(TokenStore, IdsAreComparedOneByOne) {
  TokenStore store(1, 4);
  const Ids ids{1, 2, 3, 4};
  const std::vector<PrefixHash> same{PrefixHash{}};
  store.store(0, {ids, same});
  for (std::size_t i = 0; i < ids.size(); ++i) {
    Ids other = ids;
    other[i] = 9;
    EXPECT_FALSE(store.matches(0, {other, same})) << i;
  }
  EXPECT_TRUE(store.matches(0, {ids, same}));
}

TEST(TokenStore, TellsItsMemory) { EXPECT_EQ(TokenStore(10, 256).bytes(), 10u * (256 * 4 + 16)); }

TEST(PrefixHasher, RecordsTokensAndSecretsTellPrefixesApart) {
  const Ids ids{1, 2, 3, 4}, other{0, 2, 3, 4};
  const auto hashes = [](const PrefixHasher& hasher, const Ids& tokens) {
    std::vector<PrefixHash> out;
    hasher(tokens, kChunkTokens, out);
    return out;
  };
  const PrefixHasher ours{tenant(0)}, theirs{tenant(1)};
  const PrefixHasher fixed(tenant(0), HashSecret{});
  ASSERT_EQ(hashes(ours, ids).size(), 2u);
  EXPECT_EQ(hashes(ours, ids), hashes(PrefixHasher{tenant(0)}, ids));
  for (const auto& different : {hashes(ours, other), hashes(theirs, ids), hashes(fixed, ids)}) {
    EXPECT_FALSE(different[0] == hashes(ours, ids)[0]);
    EXPECT_FALSE(different[1] == hashes(ours, ids)[1]) << "though its own chunk is equal";
  }
}

TEST(ChunkTokens, APartHasItsOwnTokensAndPrefixes) {
  const Ids ids{1, 2, 3, 4, 5, 6};
  std::vector<PrefixHash> prefixes;
  PrefixHasher{CompatibilityRecord{}}(ids, kChunkTokens, prefixes);
  const ChunkTokens part = ChunkTokens{ids, prefixes}.of(1, 2);
  EXPECT_EQ(part.chunks(), 2u);
  EXPECT_TRUE(std::ranges::equal(part.tokens, Ids{3, 4, 5, 6}));
  EXPECT_EQ(part.prefixes.front(), prefixes[1]);
}

}  // namespace
}  // namespace kvroof
