// SPDX-License-Identifier: Apache-2.0
// Two thousand schedules, and planted bugs that they must find.
#include <gtest/gtest.h>

#include "tests/schedules/workplace.h"

namespace kvroof::schedules {
namespace {

constexpr std::uint64_t kSeeds = 2000;

TEST(FaultSchedules, ServeNoOtherBytesNeverHangAndLoseNoSlot) {
  Workplace workplace;
  Outcomes outcomes;
  std::array<std::uint64_t, kFaults> faults{};
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Verdict verdict = workplace.run(seed);
    ASSERT_EQ(verdict.wrong, "") << "fault_schedules --seed " << seed;
    outcomes += verdict.outcomes;
    for (std::size_t i = 0; i < kFaults; ++i) faults[i] += verdict.faults.of[i];
  }
  for (std::size_t i = 1; i < kFaults; ++i) EXPECT_GT(faults[i], 0u) << kFaultNames[i];
  EXPECT_GT(outcomes.blocks_loaded_right, kSeeds);
  EXPECT_GT(outcomes.chunks_failed, kSeeds);
  EXPECT_GT(outcomes.chunks_evicted, kSeeds);
  EXPECT_GT(outcomes.chunks_collided, 0u);
  EXPECT_GT(outcomes.chunks_fetched, 0u);
  EXPECT_GT(outcomes.preemptions, kSeeds);
  EXPECT_GT(outcomes.cancels, 0u);
  EXPECT_GT(outcomes.lanes_lost, 0u);
  EXPECT_GT(outcomes.devices_lost, 0u);
  EXPECT_GT(outcomes.not_created, 0u);
}

TEST(FaultSchedules, ASeedReplaysAlike) {
  Workplace one, other;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const Verdict first = one.run(seed), second = other.run(seed);
    EXPECT_EQ(first.outcomes.blocks_loaded_right, second.outcomes.blocks_loaded_right) << seed;
    EXPECT_EQ(first.outcomes.chunks_failed, second.outcomes.chunks_failed) << seed;
    EXPECT_EQ(first.faults.of, second.faults.of) << seed;
  }
}

struct PlantedBug {
  const char* name;
  void (*plant)(Setting& setting);
};

struct PlantedBugs : testing::TestWithParam<PlantedBug> {};

TEST_P(PlantedBugs, AreFound) {
  const Plant plant = [](Setting& setting) { GetParam().plant(setting); };
  Workplace workplace;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    if (!workplace.run(seed, plant).wrong.empty()) return;
  }
  FAIL() << "no schedule found it";
}

constexpr PlantedBug kBugs[] = {
    {"loads_ignore_their_fences", [](Setting& s) { s.faults.unfenced_in = true; }},
    {"offloads_ignore_their_fences", [](Setting& s) { s.faults.unfenced_out = true; }},
    {"gathers_ignore_their_fences", [](Setting& s) { s.faults.unfenced_gather = true; }},
    {"scatters_ignore_their_fences", [](Setting& s) { s.faults.unfenced_scatter = true; }},
    {"copies_land_early", [](Setting& s) { s.faults.lands_early = true; }},
    {"failures_are_hidden", [](Setting& s) { s.faults.hides_failures = true; }},
    {"tokens_are_not_checked", [](Setting& s) { s.engine.check_tokens = false; }},
    {"nothing_times_out", [](Setting& s) { s.engine.copy_timeout = Nanos{}; }},
};

INSTANTIATE_TEST_SUITE_P(, PlantedBugs, testing::ValuesIn(kBugs),
                         [](const auto& bug) { return std::string(bug.param.name); });

}  // namespace
}  // namespace kvroof::schedules
