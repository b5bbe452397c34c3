// SPDX-License-Identifier: Apache-2.0
#include "suites/serving/hybrid.h"

#include <gtest/gtest.h>

#include "suites/serving/test_rig.h"

namespace kvroof {
namespace {

struct Seen {
  Nanos recompute, copy, hybrid;
  ChunkRange split;
};

// On the made-up simulator, whose link is slowed down.
Seen restore_by_each_plan(std::uint32_t chunks, std::uint32_t requests, const char* link) {
  DeviceSpec spec;
  spec.adapter = "sim";
  spec.profile_text = sim::test_profile();
  spec.options["link"] = link;
  Rig rig(std::move(*sim::open(spec)), chunks * kChunkTokens, requests, heavy_model());
  const auto split = find_hybrid_split(*rig.session, rig.batch, all_chunks(rig.batch), {});
  EXPECT_TRUE(split.ok()) << split.status().text;
  return {recompute(*rig.session, rig.batch, {})->ttft, copy(*rig.session, rig.batch, {})->ttft,
          restore(*rig.session, rig.batch, *split, {})->ttft, *split};
}

TEST(HybridSplit, IsNeverSlowerThanTheBetterPurePlan) {
  for (const char* link : {"100KB/s", "1MB/s", "10MB/s", "100MB/s", "10GB/s"}) {
    for (const std::uint32_t requests : {1u, 4u}) {
      const Seen seen = restore_by_each_plan(40, requests, link);
      EXPECT_LE(seen.hybrid, std::min(seen.copy, seen.recompute)) << link << " " << requests;
    }
  }
}

TEST(HybridSplit, GainsWhereThePurePlansAreNearEachOther) {
  // A pass of 16 tokens takes some 0.5 ms, a chunk of 8 some 4 KB: 16 MB/s makes both equal.
  const Seen seen = restore_by_each_plan(64, 1, "16MB/s");
  const Nanos better = std::min(seen.copy, seen.recompute);
  ASSERT_LT(std::max(seen.copy, seen.recompute), better * 3 / 2);  // else the case shows nothing
  EXPECT_LT(seen.hybrid * 5 / 4, better);
  EXPECT_GT(seen.split.first, 0u);
  EXPECT_GT(seen.split.count, 0u);
  EXPECT_EQ(seen.split.first + seen.split.count, 64u);
}

TEST(HybridSplit, IsAPurePlanWhereTheOtherIsHopeless) {
  EXPECT_EQ(restore_by_each_plan(16, 1, "10GB/s").split.first, 0u);
  EXPECT_EQ(restore_by_each_plan(16, 1, "1KB/s").split.count, 0u);
}

TEST(HybridSplit, OnTheHostTheLogitsAreThoseOfAFullPrefill) {
  Rig rig(open_host(), 12 * kChunkTokens + 1, 2);
  const auto split = find_hybrid_split(*rig.session, rig.batch, all_chunks(rig.batch), {});
  ASSERT_TRUE(split.ok()) << split.status().text;
  ASSERT_TRUE(wipe(*rig.session, rig.batch).ok());
  ASSERT_TRUE(restore(*rig.session, rig.batch, *split, {}).ok());
  EXPECT_LT(rig.difference(), 1e-5);
}

}  // namespace
}  // namespace kvroof
