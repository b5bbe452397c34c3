// SPDX-License-Identifier: Apache-2.0
// A host tier that is too small for all, and store policies, as serving meets them; and what is
// said of a tier that is less than was asked for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "suites/serving/test_rig.h"
#include "suites/serving/tier_report.h"
#include "suites/serving/verify.h"

namespace kvroof {
namespace {

using testing::HasSubstr;

constexpr std::uint32_t kTokens = 64;  // 8 chunks a request

struct Checks {
  KeyHash key_hash{};
  bool check_tokens = false;
  Integrity checksum = Integrity::off;
};

struct SmallTier {
  SmallTier(std::uint32_t chunks, StorePolicy store, std::uint32_t requests = 1,
            Eviction eviction = Eviction::lru, Faults faults = {},
            std::unique_ptr<Device> inner = open_host(), Checks checks = {})
      : device(std::move(inner), std::move(faults)) {
    SessionSpec spec = spec_of(small_model(), kTokens, requests);
    spec.host_tier_bytes = chunks * (spec.host_tier_bytes / (kTokens / kChunkTokens * requests));
    spec.host_tier_bounded = true;
    spec.store = store;
    spec.eviction = eviction;
    spec.key_hash = checks.key_hash;
    spec.check_tokens = checks.check_tokens;
    spec.checksum = checks.checksum;
    session = std::move(*Session::create(device, small_model(), spec));
    batch = std::move(*RequestBatch::create(*session, kTokens, requests, 5));
  }

  FaultyDevice device;
  std::unique_ptr<Session> session;
  RequestBatch batch;
};

TEST(SmallHostTier, WhatItHoldsIsLoadedAndTheRestRecomputed) {
  for (const Eviction eviction : {Eviction::lru, Eviction::arc, Eviction::s3fifo}) {
    SmallTier rig(3, StorePolicy::immediate, 1, eviction);
    const Verification seen = verify_and_offload(*rig.session, rig.batch);
    ASSERT_TRUE(seen.status.ok()) << seen.status.text;
    EXPECT_EQ(seen.wrong, "");
    EXPECT_EQ(seen.held, (ChunkRange{0, 3}));
    ASSERT_TRUE(seen.logit_difference.has_value());
    const auto done = restore(*rig.session, rig.batch, seen.held, {});
    ASSERT_TRUE(done.ok());
    EXPECT_EQ(done->chunks_loaded, 3u);
  }
}

// The second request takes 4 of the 6 chunks' room, so of the first 2 are left: its beginning,
// since of a prefix the end goes first.
TEST(SmallHostTier, OfAPrefixTheBeginningStays) {
  SmallTier rig(10, StorePolicy::immediate, 2);
  ASSERT_TRUE(recompute(*rig.session, rig.batch, {}).ok());
  ASSERT_TRUE(offload(*rig.session, rig.batch).ok());
  EXPECT_EQ(held_chunks(*rig.session, rig.batch), (ChunkRange{0, 2}));
}

// One chunk more than there is room for, after the oldest was used again: which is what lru keeps
// and a queue does not.
TEST(SmallHostTier, EvictsByItsPolicy) {
  for (const auto& [eviction, kept] : {std::pair{Eviction::lru, 0}, {Eviction::s3fifo, 1}}) {
    SmallTier rig(2, StorePolicy::immediate, 1, eviction);
    Engine& engine = *rig.session->engines[0];
    const Request& request = rig.batch.requests[0];
    const auto key = [&](std::uint32_t chunk) {
      return std::span(request.kv[0].keys).subspan(chunk, 1);
    };
    for (const std::uint32_t chunk : {0u, 1u, 0u, 2u}) {
      const auto id = engine.offload(key(chunk), blocks_of(*rig.session, request, {chunk, 1}, 0));
      ASSERT_TRUE(id.ok() && engine.wait(*id, Nanos::max()).ok());
    }
    EXPECT_EQ(engine.lookup(key(2)), 1u);
    EXPECT_EQ(engine.lookup(key(kept)), 1u) << name(eviction);
    EXPECT_EQ(engine.lookup(key(1 - kept)), 0u) << name(eviction);
  }
}

// Of four bits of a hash most chunks share their key with another: tokens tell them apart, so that
// fewer are held and none is wrong. Without them whatever has the key is served.
TEST(CheckedTokens, TellApartWhatKeysDoNot) {
  for (const bool checked : {true, false}) {
    SmallTier rig(32, StorePolicy::immediate, 4, Eviction::lru, {}, open_host(),
                  {.key_hash = KeyHash::narrow(4), .check_tokens = checked});
    const Verification seen = verify_and_offload(*rig.session, rig.batch);
    ASSERT_TRUE(seen.status.ok()) << seen.status.text;
    EXPECT_EQ(seen.wrong.empty(), checked) << seen.wrong;
    EXPECT_EQ(seen.held.count < 8, checked);
    const Json tier = tier_json(*rig.session);
    EXPECT_EQ(tier.contains("chunks_collided"), checked);
    if (checked) {
      EXPECT_GT(tier["chunks_collided"], 0);
    }
  }
}

TEST(CheckedTokens, TenantsWithOtherSecretsShareNoKeyAndEveryOneIsServed) {
  const Checks own{.key_hash = KeyHash(secret_of("a tenant's own")), .check_tokens = true};
  const Checks other{.key_hash = KeyHash(secret_of("another tenant's")), .check_tokens = true};
  SmallTier one(8, StorePolicy::immediate, 1, Eviction::lru, {}, open_host(), own);
  SmallTier two(8, StorePolicy::immediate, 1, Eviction::lru, {}, open_host(), other);
  const std::vector<ChunkKey>& keys = one.batch.requests[0].kv[0].keys;
  const std::vector<ChunkKey>& others = two.batch.requests[0].kv[0].keys;
  EXPECT_EQ(one.batch.requests[0].tokens, two.batch.requests[0].tokens);
  for (const ChunkKey& key : keys) EXPECT_EQ(std::ranges::count(others, key), 0);
  const Verification seen = verify_and_offload(*one.session, one.batch);
  EXPECT_EQ(seen.held.count, 8u);
  EXPECT_EQ(seen.wrong, "");
  const auto done = restore(*one.session, one.batch, {0, 8}, {});
  ASSERT_TRUE(done.ok()) << done.status().text;
  EXPECT_EQ(done->chunks_loaded, 8u);
}

TEST(Checksums, AreComparedAndCounted) {
  for (const Integrity checksum : {Integrity::off, Integrity::sampled, Integrity::always}) {
    SmallTier rig(64, StorePolicy::immediate, 8, Eviction::lru, {}, open_host(),
                  {.checksum = checksum});
    const Verification seen = verify_and_offload(*rig.session, rig.batch);
    ASSERT_TRUE(seen.status.ok()) << seen.status.text;
    EXPECT_EQ(seen.wrong, "");
    const Json tier = tier_json(*rig.session);
    EXPECT_EQ(tier.contains("chunks_summed"), checksum != Integrity::off);
    if (checksum == Integrity::off) continue;
    std::uint64_t summed = 0, all = 0;
    for (const Request& request : rig.batch.requests) {
      for (const ChunkKey& key : request.kv[0].keys) summed += has_sum(checksum, key), ++all;
    }
    EXPECT_GT(summed, 0u);
    const EngineCounters& moved = rig.session->engines[0]->counters();
    EXPECT_EQ(tier["chunks_summed"], moved.chunks_offloaded / all * summed);
    EXPECT_EQ(tier["chunks_checked"], moved.chunks_loaded / all * summed);
    EXPECT_EQ(tier["chunks_corrupt"], 0);
  }
}

// In silence: without a checksum these are served as if nothing were wrong.
TEST(Checksums, WhatCopiesLoseIsAMissAndCounted) {
  const Faults nothing_comes = {.fault_of = [](QueueKind queue, Ticket) {
    return queue == QueueKind::copy_in ? Fault::silent_nothing : Fault::none;
  }};
  for (const Integrity checksum : {Integrity::off, Integrity::always}) {
    SmallTier rig(8, StorePolicy::immediate, 1, Eviction::lru, nothing_comes, open_host(),
                  {.checksum = checksum});
    const Verification seen = verify_and_offload(*rig.session, rig.batch);
    const bool checked = checksum == Integrity::always;
    EXPECT_EQ(seen.wrong.empty(), checked) << seen.wrong;
    if (checked) {
      EXPECT_GT(tier_json(*rig.session)["chunks_corrupt"], 0);
    }
  }
}

TEST(StorePolicies, ASecondUseIsNeededBeforeAnythingIsHeld) {
  SmallTier rig(8, StorePolicy::second_use);
  const Verification seen = verify_and_offload(*rig.session, rig.batch);
  EXPECT_TRUE(seen.status.ok() && seen.wrong.empty());
  EXPECT_EQ(seen.held.count, 8u);
  EXPECT_EQ(tier_json(*rig.session)["chunks_unwanted"], 8);
}

TEST(StorePolicies, ASecondUseIsKnownOfAPrefixThatDoesNotFit) {
  SmallTier rig(3, StorePolicy::second_use);
  ASSERT_TRUE(recompute(*rig.session, rig.batch, {}).ok());
  ASSERT_TRUE(offload(*rig.session, rig.batch).ok());
  EXPECT_EQ(held_chunks(*rig.session, rig.batch).count, 3u);
}

TEST(StorePolicies, OnEvictHandsOverWhatIsLoadedAndTakesItBack) {
  for (const std::uint32_t chunks : {8u, 3u}) {
    SmallTier rig(chunks, StorePolicy::on_evict);
    const Verification seen = verify_and_offload(*rig.session, rig.batch);
    ASSERT_TRUE(seen.status.ok()) << seen.status.text;
    EXPECT_EQ(seen.wrong, "");
    EXPECT_EQ(seen.held.count, chunks);
    EXPECT_EQ(held_chunks(*rig.session, rig.batch).count, 0u) << "the cache has them";
    for (int i = 0; i < 3; ++i) {
      ASSERT_TRUE(evict(*rig.session, rig.batch).ok());
      ASSERT_EQ(held_chunks(*rig.session, rig.batch).count, chunks);
      const auto done = restore(*rig.session, rig.batch, seen.held, {});
      ASSERT_TRUE(done.ok());
      EXPECT_EQ(done->chunks_loaded, chunks);
      EXPECT_EQ(done->failed_loads, 0u);
    }
    EXPECT_EQ(tier_json(*rig.session)["chunks_handed_over"], 5 * chunks);
  }
}

std::string said(const Session& session) {
  const Json tier = tier_json(session);
  return tier.contains("warnings") ? tier["warnings"].dump() : "";
}

TEST(TierReport, SaysThatATierBelowTheCacheOnlyMirrorsIt) {
  EXPECT_THAT(said(*SmallTier(7, StorePolicy::immediate).session), HasSubstr("only mirrors"));
  EXPECT_THAT(said(*SmallTier(8, StorePolicy::immediate).session),
              testing::Not(HasSubstr("only mirrors")));
  EXPECT_THAT(said(*SmallTier(7, StorePolicy::on_evict).session),
              testing::Not(HasSubstr("only mirrors")))
      << "it holds what the cache does not";
}

TEST(TierReport, SaysWhatIsNotPinned) {
  const HostTierFacts half{.bytes = 4'000'000'000, .pinned_bytes = 2'000'000'000};
  const auto told = tier_warnings({}, half, 0);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0],
            "of the host tier's 4 GB only 2 GB are pinned, and copies of the rest may be slower: "
            "raise the limit of locked memory (ulimit -l)");
  EXPECT_TRUE(tier_warnings({}, {.bytes = 8, .pinned_bytes = 8}, 0).empty());
}

TEST(TierReport, HasWhatTheTierIs) {
  const SmallTier rig(8, StorePolicy::immediate);
  const Json tier = tier_json(*rig.session);
  EXPECT_EQ(tier["bytes"], rig.session->spec.host_tier_bytes);
  EXPECT_EQ(tier["chunks"], 8);
  EXPECT_EQ(tier["pinned_bytes"], rig.session->engines[0]->tier().pinned_bytes);
}

// The simulator does not say where its memory lies.
TEST(TierReport, SaysThatItMayLieFarFromTheDevice) {
  const SmallTier rig(8, StorePolicy::immediate, 1, Eviction::lru, {.numa_node = 3},
                      open_simulator());
  EXPECT_EQ(tier_json(*rig.session)["numa_node_asked"], 3);
  EXPECT_EQ(tier_json(*rig.session)["numa_node"], -1);
  EXPECT_THAT(said(*rig.session), HasSubstr("does not lie on NUMA node 3"));
}

}  // namespace
}  // namespace kvroof
