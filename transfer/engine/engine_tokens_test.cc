// SPDX-License-Identifier: Apache-2.0
// Where tokens are checked a key alone is no hit: keys of 8 bits, whose collisions are the rule,
// against the bytes that each true prefix has.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <utility>

#include "kernels/model/kv_pattern.h"
#include "transfer/testing/test_rig.h"

namespace kvroof {
namespace {

constexpr std::uint32_t kChunks = 4, kChunkTokens = 8;  // of the rig's blocks and chunks
constexpr BlockId kFrom = 0, kTo = 16;  // a request's blocks when stored, and loaded

using Ids = std::vector<std::int32_t>;

// One request of a tenant, with keys and prefix hashes.
struct Request {
  Request(std::size_t tenant_index, Ids tokens) : tenant(tenant_index), ids(std::move(tokens)) {
    CompatibilityRecord record;
    record.tenant_salt = std::to_string(tenant);
    keys = chunk_keys(record, ids, kChunkTokens, KeyHash::narrow(8));
    PrefixHasher{record}(ids, kChunkTokens, prefixes);
  }

  ChunkTokens tokens() const { return {ids, prefixes}; }
  std::pair<std::size_t, Ids> prefix(std::size_t chunk) const {
    return {tenant, Ids(ids.begin(), ids.begin() + (chunk + 1) * kChunkTokens)};
  }

  std::size_t tenant;
  Ids ids;
  std::vector<ChunkKey> keys;
  std::vector<PrefixHash> prefixes;
};

// Each chunk is one of three, so that equal ones behind other prefixes are common.
Request any_request(std::mt19937& random) {
  Ids ids;
  for (std::uint32_t chunk = 0; chunk < kChunks; ++chunk) {
    ids.insert(ids.end(), kChunkTokens, static_cast<std::int32_t>(random() % 3));
  }
  return {random() % 2, std::move(ids)};
}

// An engine whose every true prefix has bytes of its own.
class Prefixes {
 public:
  explicit Prefixes(bool check_tokens)
      : rig_({.tier_chunks = 48, .check_tokens = check_tokens}), cache_(rig_.kv.cache_bytes()) {}

  Engine& engine() { return *rig_.engine; }

  // Computes the request's KV and offloads it.
  TransferResult store(const Request& request) {
    const Point by = compute(request);
    rig_.engine->note_write(range(kFrom, 2 * kChunks), by);
    return finish(rig_, rig_.engine->offload(request.keys, range(kFrom, 2 * kChunks),
                                             {.tokens = request.tokens()}));
  }

  // Loads the leading `hits` chunks; how many of them hold other bytes than their prefix's.
  std::uint32_t wrong(const Request& request, std::uint32_t hits) {
    if (hits == 0) return 0;
    finish(rig_, rig_.engine->load(std::span(request.keys).first(hits), range(kTo, 2 * hits),
                                   {.tokens = request.tokens().of(0, hits)}));
    const std::vector<std::byte> cache = rig_.read_cache();
    std::uint32_t count = 0;
    for (std::uint32_t chunk = 0; chunk < hits; ++chunk) {
      count += holds(cache, kTo + 2 * chunk, request, chunk) ? 0 : 1;
    }
    return count;
  }

 private:
  Point compute(const Request& request) {
    for (std::uint32_t chunk = 0; chunk < kChunks; ++chunk) {
      for (std::uint32_t i = 0; i < 2; ++i) {
        const auto at = rig_.kv.region_offset(kFrom + 2 * chunk + i, 0);
        const auto copy = std::span(cache_).subspan(at, rig_.kv.block_bytes());
        EXPECT_TRUE(write_pattern(rig_.kv, {number(request, chunk) + i}, copy).ok());
      }
    }
    rig_.write_cache(cache_);
    return rig_.read(range(kFrom, 1));  // a point behind the write
  }

  bool holds(const std::vector<std::byte>& cache, BlockId block, const Request& request,
             std::uint32_t chunk) {
    for (std::uint32_t i = 0; i < 2; ++i) {
      const auto at = rig_.kv.region_offset(block + i, 0);
      const auto copy = std::span(cache).subspan(at, rig_.kv.block_bytes());
      if (!check_pattern(rig_.kv, {number(request, chunk) + i}, copy).ok()) return false;
    }
    return true;
  }

  // What the two blocks of a prefix's last chunk go by.
  std::uint32_t number(const Request& request, std::size_t chunk) {
    const auto next = static_cast<std::uint32_t>(2 * numbers_.size());
    return numbers_.emplace(request.prefix(chunk), next).first->second;
  }

  Rig rig_;
  std::vector<std::byte> cache_;
  std::map<std::pair<std::size_t, Ids>, std::uint32_t> numbers_;
};

TEST(EngineTokensTest, NoCollisionOfKeysIsEverServed) {
  std::mt19937 random(3);
  Prefixes prefixes(true);
  std::uint32_t loaded = 0;
  for (int i = 0; i < 600; ++i) {
    const Request request = any_request(random);
    const std::uint32_t hits = prefixes.engine().lookup(request.keys, request.tokens());
    ASSERT_EQ(prefixes.wrong(request, hits), 0u) << "request " << i;
    loaded += hits;
    const TransferResult stored = prefixes.store(request);
    if (stored.chunks_collided + stored.chunks_refused > 0) continue;
    EXPECT_EQ(prefixes.engine().lookup(request.keys, request.tokens()), kChunks) << i;
  }
  EXPECT_GT(loaded, 100u);
  EXPECT_GT(prefixes.engine().counters().chunks_collided, 100u);
  EXPECT_GT(prefixes.engine().counters().chunks_evicted, 100u);
}

// That the same requests do meet wrong bytes where nobody checks: the test above can fail.
TEST(EngineTokensTest, WithoutTheCheckTheyAre) {
  std::mt19937 random(3);
  Prefixes prefixes(false);
  std::uint32_t wrong = 0;
  for (int i = 0; i < 600; ++i) {
    const Request request = any_request(random);
    wrong += prefixes.wrong(request, prefixes.engine().lookup(request.keys, request.tokens()));
    prefixes.store(request);
  }
  EXPECT_GT(wrong, 10u);
}

// A load is checked itself: its lookup may be long ago.
TEST(EngineTokensTest, ALoadOfOtherTokensIsRefused) {
  Rig rig({.check_tokens = true});
  const Request mine(0, Ids(kChunkTokens, 1)), other(0, Ids(kChunkTokens, 2));
  finish(rig, rig.engine->offload(mine.keys, range(0, 2), {.tokens = mine.tokens()}));
  EXPECT_EQ(rig.engine->load(mine.keys, range(4, 2), {.tokens = other.tokens()}).code(),
            Code::invalid);
  EXPECT_EQ(rig.engine->lookup(mine.keys, other.tokens()), 0u);
  EXPECT_EQ(rig.engine->lookup(mine.keys, mine.tokens()), 1u);
  EXPECT_EQ(rig.engine->counters().chunks_collided, 2u);
}

// While the first chunk is still on its way its key is taken as well.
TEST(EngineTokensTest, AnOffloadOfOtherTokensUnderATakenKeyIsCounted) {
  Rig rig({.check_tokens = true});
  const Request mine(0, Ids(kChunkTokens, 1)), other(0, Ids(kChunkTokens, 2));
  const Point gate = rig.hold(1);
  rig.engine->note_write(range(0, 2), gate);
  const auto first = rig.engine->offload(mine.keys, range(0, 2), {.tokens = mine.tokens()});
  const TransferResult second =
      finish(rig, rig.engine->offload(mine.keys, range(2, 2), {.tokens = other.tokens()}));
  EXPECT_EQ(second.chunks_collided, 1u);
  EXPECT_EQ(second.chunks_held, 0u);
  EXPECT_TRUE(rig.device.open_gate(1).ok());
  EXPECT_EQ(finish(rig, first).failed_chunks, 0u);
  EXPECT_EQ(rig.engine->lookup(mine.keys, mine.tokens()), 1u);
}

TEST(EngineTokensTest, WithoutTokensThereIsNoHitAndNoTransfer) {
  Rig rig({.check_tokens = true});
  const Request mine(0, Ids(kChunkTokens, 1));
  EXPECT_EQ(rig.engine->offload(mine.keys, range(0, 2)).code(), Code::invalid);
  finish(rig, rig.engine->offload(mine.keys, range(0, 2), {.tokens = mine.tokens()}));
  EXPECT_EQ(rig.engine->lookup(mine.keys), 0u);
  EXPECT_EQ(rig.engine->load(mine.keys, range(4, 2)).code(), Code::invalid);
  const ChunkTokens half{std::span(mine.ids).first(kChunkTokens / 2), mine.prefixes};
  EXPECT_EQ(rig.engine->load(mine.keys, range(4, 2), {.tokens = half}).code(), Code::invalid);
}

}  // namespace
}  // namespace kvroof
