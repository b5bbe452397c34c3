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
  for (std::size_t i = 0; i < kOutcomes; ++i) {
    EXPECT_GT(outcomes.all()[i], 0u) << kOutcomeNames[i];
  }
  for (const Outcome often : {Outcome::blocks_loaded_right, Outcome::chunks_failed,
                              Outcome::chunks_evicted, Outcome::preemptions}) {
    EXPECT_GT(outcomes[often], kSeeds);
  }
}

TEST(FaultSchedules, ASeedReplaysAlike) {
  Workplace one, other;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const Verdict first = one.run(seed), second = other.run(seed);
    EXPECT_EQ(first.outcomes.all(), second.outcomes.all()) << seed;
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
