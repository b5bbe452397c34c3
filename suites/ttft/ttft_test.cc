// SPDX-License-Identifier: Apache-2.0
// The suite's outcomes, on a simulated device that breaks as planted.
#include "suites/ttft/ttft.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "suites/serving/test_rig.h"

namespace kvroof {
namespace {

using testing::AllOf;
using testing::Gt;
using testing::HasSubstr;
using testing::Le;

ComparisonGroup both_plans(std::uint64_t context) {
  GridPoint point;
  point.context_tokens = context;
  return {point, {PlanKind::recompute, PlanKind::copy}};
}

std::vector<Case> run(FaultyDevice& device, const ComparisonGroup& group) {
  return TtftSuite({.device = device, .shape = small_model(), .groups = {group}}).run(group);
}

TEST(TtftSuite, APlainRunIsOkAndReconcilesItsBytes) {
  FaultyDevice device(open_simulator());
  const std::vector<Case> cases = run(device, both_plans(1024));
  ASSERT_EQ(cases.size(), 2u);
  EXPECT_EQ(cases[0].outcome, Outcome::ok) << cases[0].reason;
  EXPECT_EQ(cases[1].outcome, Outcome::ok) << cases[1].reason;
}

TEST(TtftSuite, ACopyStandsBesideThePrefillByItsLoadAlone) {
  const auto device = open_simulator();
  ComparisonGroup group = both_plans(1024);
  group.point.serving_cost.first_step_seconds = 0.25;
  const std::vector<Case> cases =
      TtftSuite({.device = *device, .shape = small_model(), .groups = {group}}).run(group);
  ASSERT_EQ(cases.size(), 2u);
  const auto median = [&cases](int i, const char* name) {
    return *find_metric(cases[i], name)->median;
  };
  const double load = median(1, "load_time");
  EXPECT_NEAR(median(1, "speedup_alone"), (median(0, "ttft") - 0.25) / load, 1e-9);
  EXPECT_NEAR(median(1, "after_load_share"), 1 - (0.25 + load) / median(1, "ttft"), 1e-5);
  EXPECT_EQ(find_metric(cases[0], "speedup_alone"), nullptr);
}

ComparisonGroup all_plans(TierSize tier, Eviction eviction, StorePolicy store) {
  ComparisonGroup group = both_plans(1024);
  group.point.host_tier = tier;
  group.point.eviction = eviction;
  group.point.store = store;
  group.plans.push_back(PlanKind::hybrid);
  return group;
}

TEST(TtftSuite, EveryStorePolicyAndEvictionRunsEveryPlan) {
  for (const StorePolicy store :
       {StorePolicy::immediate, StorePolicy::second_use, StorePolicy::on_evict}) {
    for (const Eviction eviction : {Eviction::lru, Eviction::arc, Eviction::s3fifo}) {
      FaultyDevice device(open_simulator());
      for (const Case& one : run(device, all_plans({}, eviction, store))) {
        EXPECT_EQ(one.outcome, Outcome::ok) << name(store) << name(eviction) << one.reason;
        EXPECT_EQ(one.params["store"], name(store));
        EXPECT_EQ(one.tier.is_null(), one.params["plan"] == "recompute");
      }
    }
  }
}

TEST(TtftSuite, EveryWayToCopyRunsInBothLayouts) {
  for (const CopyPath copy : {CopyPath::dma, CopyPath::batch, CopyPath::kernel, CopyPath::staged}) {
    for (const Layout layout : {Layout::block_first, Layout::layer_first}) {
      FaultyDevice device(open_simulator());
      ComparisonGroup group = all_plans({}, Eviction::lru, StorePolicy::immediate);
      group.point.copy = {copy};
      group.point.layout = layout;
      const std::vector<Case> cases = run(device, group);
      for (const Case& one : cases) EXPECT_EQ(one.outcome, Outcome::ok) << name(copy) << one.reason;
      // Of 64 blocks in four chunks; blocks that are neighbours in the cache cross as one region.
      const std::uint64_t regions = *find_metric(cases[1], "regions_loaded")->value;
      if (copy == CopyPath::staged) {
        EXPECT_EQ(regions, 4u) << name(layout);
      } else if (layout == Layout::layer_first) {
        EXPECT_EQ(regions, 64u * 4) << name(copy);
      } else {
        EXPECT_THAT(regions, AllOf(Gt(4u), Le(64u))) << name(copy);
      }
    }
  }
}

TEST(TtftSuite, AutoTakesTheBestOfWhatWasTimedAndSaysSo) {
  for (const bool on_host : {false, true}) {
    FaultyDevice device(on_host ? open_host() : open_simulator());
    ComparisonGroup group = all_plans({}, Eviction::lru, StorePolicy::immediate);
    group.point.context_tokens = 512;
    group.point.kv_dtype = DType::f32;
    group.point.copy = kCopyAuto;
    group.point.layout = Layout::layer_first;
    const std::vector<Case> cases = run(device, group);
    for (const Case& one : cases) EXPECT_EQ(one.outcome, Outcome::ok) << one.reason;
    EXPECT_TRUE(cases[0].copy_auto.is_null()) << "recompute copies nothing";
    const Case& copy = cases[1];
    EXPECT_EQ(copy.params["copy"], "auto");
    EXPECT_EQ(copy.copy_auto["source"], on_host ? "calibration" : "profile");
    EXPECT_EQ(copy.copy_auto["unavailable"].contains("batch"), on_host);
    const Json& load = copy.copy_auto["choices"][1];
    EXPECT_EQ(load["direction"], "load");
    EXPECT_EQ(load["regions"], 128);
    EXPECT_FALSE(load.contains("unchecked")) << load.dump();
    // Two chunks: gathered, each crosses the link as one region.
    const std::uint64_t regions = *find_metric(copy, "regions_loaded")->value;
    EXPECT_EQ(regions == 2u, load["taken"] == "staged") << regions << load.dump();
    if (!on_host) {
      EXPECT_NE(load["taken"], "dma") << "a region costs 1 us";
    }
  }
}

// The engine's first copy never ends: the group fails with the reason, and the next one has a new
// session. Into the device, a queue of the session's own was first to copy.
TEST(TtftSuite, ACopyThatNeverEndsFailsItsGroupAndNotTheNext) {
  for (const QueueKind hung : {QueueKind::copy_out, QueueKind::copy_in}) {
    FaultyDevice device(open_simulator());
    const int queue = hung == QueueKind::copy_in ? 2 : 1;
    int queues = 0;
    device.faults.fault_of = [&](QueueKind kind, Ticket ticket) {
      if (kind != hung || ticket != 1) return Fault::none;
      return ++queues == queue ? Fault::unending : Fault::none;
    };
    TtftSuite suite({.device = device, .shape = small_model(), .groups = {both_plans(1024)}});
    for (const Case& one : suite.run(both_plans(1024))) {
      EXPECT_EQ(one.outcome, Outcome::failed);
      EXPECT_THAT(one.reason, HasSubstr("did not end within the time allowed"));
    }
    EXPECT_GE(queues, queue);
    for (const Case& one : suite.run(both_plans(1024))) {
      EXPECT_EQ(one.outcome, Outcome::ok) << one.reason;
    }
  }
}

TEST(TtftSuite, AWayThatTheDeviceCannotCopyIsSkippedInItsWords) {
  FaultyDevice device(open_host());
  ComparisonGroup group = both_plans(1024);
  group.point.kv_dtype = DType::f32;
  group.point.copy = {CopyPath::batch};
  for (const Case& one : run(device, group)) {
    EXPECT_EQ(one.outcome, Outcome::skipped);
    EXPECT_THAT(one.reason, HasSubstr("use --copy dma"));
  }
}

// Of 1,024 tokens in four chunks the tier has room for three.
TEST(TtftSuite, ABoundedTierLoadsWhatItHolds) {
  constexpr std::uint64_t kChunkBytes = 2ull * 2 * 2 * 16 * 2 * 256;
  for (const StorePolicy store : {StorePolicy::immediate, StorePolicy::on_evict}) {
    FaultyDevice device(open_simulator());
    const TierSize tier{4 * kChunkBytes - 1};
    const std::vector<Case> cases = run(device, all_plans(tier, Eviction::lru, store));
    ASSERT_EQ(cases.size(), 3u);
    for (const Case& one : cases) ASSERT_EQ(one.outcome, Outcome::ok) << one.reason;
    EXPECT_EQ(*find_metric(cases[1], "chunks_loaded")->value, 3u);
    EXPECT_EQ(*find_metric(cases[1], "tokens_recomputed")->value, 256u);
    EXPECT_EQ(cases[1].tier["bytes"], 3 * kChunkBytes);
    EXPECT_EQ(cases[1].tier.contains("warnings"), store == StorePolicy::immediate);
  }
}

TEST(TtftSuite, ATierBelowAChunkIsAReason) {
  FaultyDevice device(open_simulator());
  for (const Case& one : run(device, all_plans({100}, Eviction::lru, StorePolicy::immediate))) {
    EXPECT_EQ(one.outcome, Outcome::skipped);
    EXPECT_THAT(one.reason, HasSubstr("give --host-tier more, or fewer --blocks-per-chunk"));
  }
}

// The second request's two chunks leave none of the first's.
TEST(TtftSuite, ATierThatHoldsNoBeginningSkipsWhatWouldLoadAlone) {
  constexpr std::uint64_t kChunkBytes = 2ull * 2 * 2 * 16 * 2 * 256;
  FaultyDevice device(open_simulator());
  ComparisonGroup group = all_plans({2 * kChunkBytes}, Eviction::lru, StorePolicy::immediate);
  group.point.batch = 2;
  const std::vector<Case> cases = run(device, group);
  EXPECT_EQ(cases[0].outcome, Outcome::ok) << cases[0].reason;
  for (const int i : {1, 2}) {
    EXPECT_EQ(cases[i].outcome, Outcome::skipped);
    EXPECT_THAT(cases[i].reason, HasSubstr("no room for the beginnings of 2 prefixes of 4 chunks"));
  }
}

// Of 1,000 tokens 768 are in whole chunks.
TEST(TtftSuite, WhatALimitLeavesIsRecomputedAndWhatRoundingTakesIsCounted) {
  struct Row {
    std::uint64_t offload, load, loaded, lost;
  };
  for (const Row& row : {Row{0, 0, 768, 232}, Row{600, 0, 512, 88}, Row{0, 600, 512, 88},
                         Row{600, 300, 256, 44}, Row{256, 1000, 256, 0}, Row{0, 1000, 768, 232}}) {
    FaultyDevice device(open_simulator());
    ComparisonGroup group = all_plans({}, Eviction::lru, StorePolicy::immediate);
    group.point.context_tokens = 1000;
    group.point.max_offload_tokens = row.offload;
    group.point.max_load_tokens = row.load;
    const std::vector<Case> cases = run(device, group);
    ASSERT_EQ(cases.size(), 3u);
    for (const Case& one : cases) ASSERT_EQ(one.outcome, Outcome::ok) << one.reason;
    const auto count = [&](const char* name) { return *find_metric(cases[1], name)->value; };
    EXPECT_EQ(count("tokens_loaded"), row.loaded) << row.offload << ' ' << row.load;
    EXPECT_EQ(count("tokens_recomputed"), 1000 - row.loaded);
    EXPECT_EQ(count("tokens_lost_to_rounding"), row.lost) << row.offload << ' ' << row.load;
    EXPECT_EQ(cases[1].tier["chunks_stored"], (row.offload ? row.offload : 1000) / 256);
  }
}

TEST(TtftSuite, ALimitBelowAChunkLeavesNothingAndSaysSo) {
  for (const bool offload : {true, false}) {
    FaultyDevice device(open_simulator());
    ComparisonGroup group = both_plans(1000);
    (offload ? group.point.max_offload_tokens : group.point.max_load_tokens) = 255;
    const std::vector<Case> cases = run(device, group);
    EXPECT_EQ(cases[0].outcome, Outcome::ok) << cases[0].reason;
    EXPECT_EQ(cases[1].outcome, Outcome::skipped);
    EXPECT_THAT(cases[1].reason, HasSubstr("leaves no whole chunk of 256"));
  }
}

// A tier that is too small is not the limit's fault.
TEST(TtftSuite, ALimitIsNotBlamedForATierWithoutRoom) {
  constexpr std::uint64_t kChunkBytes = 2ull * 2 * 2 * 16 * 2 * 256;
  FaultyDevice device(open_simulator());
  ComparisonGroup group = all_plans({2 * kChunkBytes}, Eviction::lru, StorePolicy::immediate);
  group.point.batch = 2;
  group.point.max_load_tokens = 512;
  EXPECT_THAT(run(device, group)[1].reason, HasSubstr("no room for the beginnings"));
}

// Groups share a host tier where they can: what one stored without a limit, the other must not
// find.
TEST(TtftSuite, ALimitHoldsBehindAGroupWithoutOne) {
  const auto device = open_simulator();
  ComparisonGroup free = both_plans(1024), limited = both_plans(1024);
  limited.point.max_offload_tokens = 512;
  TtftSuite suite({.device = *device, .shape = small_model(), .groups = {free, limited}});
  EXPECT_EQ(*find_metric(suite.run(free)[1], "tokens_loaded")->value, 1024u);
  EXPECT_EQ(*find_metric(suite.run(limited)[1], "tokens_loaded")->value, 512u);
}

TEST(TtftSuite, TokensAreCheckedAndKeysKeyedWhereAsked) {
  FaultyDevice device(open_simulator());
  ComparisonGroup group = all_plans({}, Eviction::lru, StorePolicy::on_evict);
  group.point.check_tokens = true;
  group.point.key_hash = KeyHash(random_secret());
  group.point.batch = 2;
  const std::vector<Case> cases = run(device, group);
  for (const Case& one : cases) ASSERT_EQ(one.outcome, Outcome::ok) << one.reason;
  EXPECT_EQ(cases[1].params["check_tokens"], "on");
  EXPECT_EQ(cases[1].params["key_hash"], "siphash");
  EXPECT_EQ(cases[1].tier["chunks_collided"], 0);
  EXPECT_EQ(*find_metric(cases[1], "chunks_loaded")->value, 8u);
}

// The load lane's tickets: four chunks while verifying, then four a sample.
constexpr Ticket kLastOfVerification = 4, kFirstOfSample = 5;

TEST(TtftSuite, ALoadThatFailsInTheTimedRegionFailsTheCopyCaseAlone) {
  FaultyDevice device(open_simulator());
  device.faults.fails = [](QueueKind kind, Ticket ticket) {
    return kind == QueueKind::copy_in && ticket == kFirstOfSample;
  };
  const std::vector<Case> cases = run(device, both_plans(1024));
  ASSERT_EQ(cases.size(), 2u);
  EXPECT_EQ(cases[0].outcome, Outcome::ok) << cases[0].reason;
  EXPECT_EQ(cases[1].outcome, Outcome::failed);
  EXPECT_THAT(cases[1].reason, HasSubstr("1 of 1 loads failed and were recomputed"));
  EXPECT_TRUE(cases[1].metrics.empty());
}

TEST(TtftSuite, ALoadThatMovesNothingAndSaysItDidIsIncorrect) {
  FaultyDevice device(open_simulator());
  device.faults.fails = [](QueueKind kind, Ticket ticket) {
    return kind == QueueKind::copy_in && ticket == kLastOfVerification;
  };
  device.faults.hides_failures = true;
  const std::vector<Case> cases = run(device, both_plans(1024));
  ASSERT_EQ(cases.size(), 2u);
  EXPECT_EQ(cases[1].outcome, Outcome::incorrect);
  EXPECT_THAT(cases[1].reason, HasSubstr("loaded KV differs from what was offloaded"));
}

}  // namespace
}  // namespace kvroof
