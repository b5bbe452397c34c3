// SPDX-License-Identifier: Apache-2.0
#include "suites/harness/sampler.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "suites/harness/statistics.h"

namespace kvroof {
namespace {

// Arms that log their letter and return the next of their values, the last one for ever.
struct Script {
  std::string log;
  std::vector<Arm> arms;
  double now = 0;

  void add(char letter, std::vector<double> values) {
    arms.emplace_back([this, letter, values, next = std::size_t{0}]() mutable {
      log += letter;
      now += 1;
      const double value = values[std::min(next++, values.size() - 1)];
      return Result<Observation>(Observation{value, {value * 10}});
    });
  }
  void add_failing(char letter, int after) {
    arms.emplace_back([this, letter, after, calls = 0]() mutable -> Result<Observation> {
      log += letter;
      if (calls++ < after) return Observation{1, {}};
      return Status{Code::failed, "the copy failed"};
    });
  }
  SamplerConfig config() {
    SamplerConfig config;
    config.clock = [this] { return now; };
    config.max_seconds = std::numeric_limits<double>::infinity();
    config.seed = 0;
    return config;
  }
};

// Alternating 100 and 101: whatever the resample, the interval lies within [100, 101], half a
// percent of the median, so the fifth sample is enough.
const std::vector<double> kSteady = {100, 101, 100, 101, 100, 101, 100, 101, 100, 101};

TEST(Sampler, InterleavesRotatesAndStopsWhenEveryArmIsNarrowEnough) {
  Script script;
  script.add('a', kSteady);
  script.add('b', kSteady);
  const auto arms = sample_interleaved(script.arms, script.config());
  EXPECT_EQ(script.log,
            "ab"
            "ba"
            "ab"
            "ba"
            "ab"
            "ba");  // a warm-up of each, then five rounds
  ASSERT_EQ(arms.size(), 2);
  for (const ArmSamples& arm : arms) {
    EXPECT_TRUE(arm.enough);
    EXPECT_TRUE(arm.status.ok());
    EXPECT_EQ(arm.seconds(), (std::vector<double>{101, 100, 101, 100, 101}));
    EXPECT_EQ(arm.extra(0)[1], 1000);
  }
}

TEST(Sampler, TheSeedChoosesWhoLeads) {
  Script script;
  script.add('a', kSteady);
  script.add('b', kSteady);
  script.add('c', kSteady);
  SamplerConfig config = script.config();
  config.seed = 2;
  sample_interleaved(script.arms, config);
  EXPECT_EQ(script.log.substr(0, 9),
            "cab"
            "abc"
            "bca");
}

TEST(Sampler, SaysThatANoisyArmDidNotGetThere) {
  Script script;
  script.add('a', kSteady);
  std::vector<double> noisy;
  for (int i = 0; i < 20; ++i) noisy.push_back(i % 2 == 0 ? 1 : 3);
  script.add('b', noisy);
  SamplerConfig config = script.config();
  config.max_samples = 12;
  const auto arms = sample_interleaved(script.arms, config);
  EXPECT_EQ(arms[0].observations.size(), 12);  // in step with the other, for the comparison
  EXPECT_TRUE(arms[0].enough);
  EXPECT_EQ(arms[1].observations.size(), 12);
  EXPECT_FALSE(arms[1].enough);
}

TEST(Sampler, ATimeBoundEndsItAfterAWholeRound) {
  Script script;  // each run advances the clock by a second
  script.add('a', {1, 9, 1, 9});
  script.add('b', {1, 9, 1, 9});
  SamplerConfig config = script.config();
  config.max_seconds = 5;
  config.min_samples = 2;
  const auto arms = sample_interleaved(script.arms, config);
  EXPECT_EQ(script.log.size(), 6);  // 2 s of warm-ups, rounds until 4 s and 6 s
  EXPECT_EQ(arms[0].observations.size(), 2);
  EXPECT_FALSE(arms[0].enough);
}

TEST(Sampler, ATimeBoundNeverCutsBelowTheLeastSamples) {
  Script script;
  script.add('a', {1, 9, 1, 9});
  SamplerConfig config = script.config();
  config.max_seconds = 0;
  EXPECT_EQ(sample_interleaved(script.arms, config)[0].observations.size(), config.min_samples);
}

TEST(Sampler, IdenticalSamplesAreNoInterval) {
  Script script;
  script.add('a', {7});
  SamplerConfig config = script.config();
  config.max_samples = 8;
  const auto arms = sample_interleaved(script.arms, config);
  EXPECT_EQ(arms[0].observations.size(), 8);
  EXPECT_FALSE(arms[0].enough);
}

TEST(Sampler, AFailedArmIsNotRunAgainAndTheOthersGoOn) {
  Script script;
  script.add('a', kSteady);
  script.add_failing('b', 2);
  const auto arms = sample_interleaved(script.arms, script.config());
  EXPECT_EQ(std::count(script.log.begin(), script.log.end(), 'b'), 3);
  EXPECT_EQ(arms[1].status.text, "the copy failed");
  EXPECT_EQ(arms[1].observations.size(), 1);
  EXPECT_FALSE(arms[1].enough);
  EXPECT_TRUE(arms[0].enough);
}

TEST(Sampler, AFailedWarmUpIsAFailure) {
  Script script;
  script.add_failing('a', 0);
  const auto arms = sample_interleaved(script.arms, script.config());
  EXPECT_EQ(script.log, "a");
  EXPECT_EQ(arms[0].status.code, Code::failed);
}

TEST(Sampler, UnderVirtualTimeEachArmRunsExactlyOnce) {
  Script script;
  script.add('a', {5});
  script.add('b', {6});
  SamplerConfig config = script.config();
  config.virtual_time = true;
  const auto arms = sample_interleaved(script.arms, config);
  EXPECT_EQ(script.log, "ab");
  EXPECT_EQ(arms[1].seconds(), (std::vector<double>{6}));
  EXPECT_FALSE(arms[1].enough);
  EXPECT_FALSE(median_interval(arms[1].seconds()));
}

TEST(Sampler, NoArmsAreNoWork) { EXPECT_TRUE(sample_interleaved({}, SamplerConfig{}).empty()); }

}  // namespace
}  // namespace kvroof
