// SPDX-License-Identifier: Apache-2.0
// Each policy's hits against a plain reference, on real traces and on made-up ones; and that what
// may not go stays.
#include "transfer/eviction/policy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <string>

#include "transfer/eviction/test_plain_reference.h"
#include "transfer/tier/slot_table.h"

namespace kvroof {
namespace {

using Trace = std::vector<std::uint64_t>;

ChunkKey key_of(std::uint64_t id) { return {id * 0x9e3779b97f4a7c15u, id}; }

void hit(EvictionPolicy& policy, SlotId slot) { policy.hit({&slot, 1}); }

// A tier as small as can be around a policy.
class Tier {
 public:
  Tier(Eviction eviction, std::uint32_t slots)
      : policy_(make_policy(eviction, slots)), table_(slots), slots_(slots) {}

  bool look_up(std::uint64_t id) {
    const ChunkKey key = key_of(id);
    SlotId slot = table_.find(key);
    if (slot != kNoSlot) {
      hit(*policy_, slot);
      return true;
    }
    if (used_ < slots_) {
      slot = used_++;
    } else {
      slot = policy_->evict(key, [](SlotId) { return true; });
      table_.erase(slot);
    }
    table_.insert(key, slot);
    policy_->insert(slot, key);
    return false;
  }

 private:
  std::unique_ptr<EvictionPolicy> policy_;
  SlotTable table_;
  std::uint32_t slots_, used_ = 0;
};

// Every look-up is a hit or a miss in both; returns the hits.
std::size_t expect_equal(Eviction eviction, std::uint32_t slots, const Trace& trace) {
  Tier tier(eviction, slots);
  const auto plain = plain_reference(eviction, slots);
  std::size_t hits = 0;
  for (std::size_t i = 0; i < trace.size(); ++i) {
    const bool expected = plain->look_up(trace[i]), hit = tier.look_up(trace[i]);
    if (hit != expected) {
      ADD_FAILURE() << name(eviction) << " of " << slots << " slots differs at look-up " << i;
      return hits;
    }
    hits += hit ? 1 : 0;
  }
  return hits;
}

constexpr Eviction kAll[] = {Eviction::lru, Eviction::arc, Eviction::s3fifo};

// Ids of one request are a prefix: a request's later ids hang on its earlier ones.
void add_request(const nlohmann::json& request, Trace& trace) {
  if (!request.contains("hash_ids")) return;
  for (const auto& id : request["hash_ids"]) trace.push_back(id.get<std::uint64_t>() + 1);
}

Trace read_trace(const std::string& file) {
  std::ifstream stream(std::string(KVROOF_TRACES) + "/" + file);
  Trace trace;
  if (file.ends_with(".jsonl")) {
    for (std::string line; std::getline(stream, line);) {
      add_request(nlohmann::json::parse(line), trace);
    }
  } else if (stream) {
    const nlohmann::json session = nlohmann::json::parse(stream);
    for (const auto& request : session["requests"]) add_request(request, trace);
  }
  return trace;
}

TEST(EvictionPolicies, HitAsThePlainReferenceDoesOnRealTraces) {
  constexpr std::uint32_t kMostSlots = 90'000;
  for (const char* file : {"mooncake_conversation_trace.jsonl", "kvcachetester_trace_0002.json"}) {
    const Trace trace = read_trace(file);
    if (trace.empty()) GTEST_SKIP() << KVROOF_TRACES << "/" << file << " is missing";
    for (const std::uint32_t slots : {64u, 400u, 2'500u, 15'000u, kMostSlots}) {
      for (const Eviction eviction : kAll) {
        const std::size_t hits = expect_equal(eviction, slots, trace);
        RecordProperty(std::string(name(eviction)) + std::to_string(slots), std::to_string(hits));
        if (slots == kMostSlots) {
          EXPECT_GT(hits, 0u) << file;
        }
      }
    }
  }
}

// Skewed, with loops that fit and loops that do not, for sizes that traces miss.
TEST(EvictionPolicies, HitAsThePlainReferenceDoesOnMadeUpTraces) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    std::mt19937_64 random(seed);
    Trace trace;
    while (trace.size() < 5'000) {
      const std::uint64_t loop = random() % 60, begin = random() % 200;
      for (std::uint64_t i = 0; i < loop; ++i) {
        trace.push_back(random() % 3 == 0 ? random() % 1000 : begin + i);
      }
    }
    for (const std::uint32_t slots : {1u, 2u, 3u, 10u, 33u, 100u, 500u}) {
      for (const Eviction eviction : kAll) expect_equal(eviction, slots, trace);
    }
  }
}

class EachPolicy : public testing::TestWithParam<Eviction> {};

TEST_P(EachPolicy, EvictsOnlyWhatMayGo) {
  constexpr std::uint32_t kSlots = 50;
  const auto policy = make_policy(GetParam(), kSlots);
  std::mt19937_64 random(7);
  std::set<SlotId> in, pinned;
  std::uint64_t next = 1;
  for (SlotId slot = 0; slot < kSlots; ++slot) {
    policy->insert(slot, key_of(next++));
    in.insert(slot);
  }
  for (int round = 0; round < 5'000; ++round) {
    for (SlotId slot = 0; slot < kSlots; ++slot) {
      if (random() % 4 == 0 && random() % 2 == 0) {
        pinned.insert(slot);
      } else if (random() % 8 == 0) {  // as a chunk's last use ends
        pinned.erase(slot);
        if (in.contains(slot)) hit(*policy, slot);
      }
    }
    const ChunkKey key = key_of(random() % 3 == 0 ? 1 + random() % next : next++);
    const SlotId victim = policy->evict(key, [&](SlotId slot) { return !pinned.contains(slot); });
    if (victim == kNoSlot) {
      EXPECT_TRUE(std::includes(pinned.begin(), pinned.end(), in.begin(), in.end()));
      continue;
    }
    ASSERT_TRUE(in.contains(victim));
    ASSERT_FALSE(pinned.contains(victim));
    policy->insert(victim, key_of((next++) + (1ull << 40)));
  }
}

TEST_P(EachPolicy, HasNoVictimWhereNothingMayGo) {
  const auto policy = make_policy(GetParam(), 3);
  const MayEvict none = [](SlotId) { return false; };
  EXPECT_EQ(policy->evict(key_of(9), none), kNoSlot) << "it is empty";
  for (SlotId slot = 0; slot < 3; ++slot) policy->insert(slot, key_of(slot));
  EXPECT_EQ(policy->evict(key_of(9), none), kNoSlot);
  for (SlotId slot = 0; slot < 3; ++slot) hit(*policy, slot);
  std::set<SlotId> gone;
  for (int i = 0; i < 3; ++i) gone.insert(policy->evict(key_of(9), [](SlotId) { return true; }));
  EXPECT_EQ(gone, (std::set<SlotId>{0, 1, 2})) << "and all can go";
}

// However many may not go, each is looked at once until it is hit again.
TEST_P(EachPolicy, StepsOverWhatMayNotGoOnce) {
  constexpr SlotId kSlots = 1'000, kFree = 100;
  const auto policy = make_policy(GetParam(), kSlots);
  for (SlotId slot = 0; slot < kSlots; ++slot) policy->insert(slot, key_of(slot));
  std::size_t asked = 0;
  const MayEvict newest_alone = [&asked](SlotId slot) { return ++asked, slot >= kSlots - kFree; };
  for (SlotId i = 0; i < kFree; ++i)
    ASSERT_NE(policy->evict(key_of(kSlots), newest_alone), kNoSlot);
  EXPECT_EQ(asked, kSlots);
  EXPECT_EQ(policy->evict(key_of(kSlots), newest_alone), kNoSlot);
  EXPECT_EQ(asked, kSlots) << "none is left to ask for";
  hit(*policy, 7);
  EXPECT_EQ(policy->evict(key_of(kSlots), [](SlotId) { return true; }), 7u);
}

TEST_P(EachPolicy, ForgetsWhatLeftOtherwise) {
  const auto policy = make_policy(GetParam(), 3);
  for (SlotId slot = 0; slot < 3; ++slot) policy->insert(slot, key_of(slot));
  const MayEvict middle = [](SlotId slot) { return slot == 1; };
  ASSERT_EQ(policy->evict(key_of(9), middle), 1u);  // 0 may not go, and is passed over
  policy->forget(0);
  EXPECT_EQ(policy->evict(key_of(9), [](SlotId) { return true; }), 2u);
  EXPECT_EQ(policy->evict(key_of(9), [](SlotId) { return true; }), kNoSlot);
  policy->insert(0, key_of(0));
  EXPECT_EQ(policy->evict(key_of(9), [](SlotId) { return true; }), 0u);
}

INSTANTIATE_TEST_SUITE_P(All, EachPolicy, testing::ValuesIn(kAll),
                         [](const auto& param) { return std::string(name(param.param)); });

}  // namespace
}  // namespace kvroof
