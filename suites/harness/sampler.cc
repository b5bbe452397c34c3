// SPDX-License-Identifier: Apache-2.0
#include "suites/harness/sampler.h"

#include <algorithm>

#include "suites/harness/statistics.h"
#include "suites/harness/wall_clock.h"

namespace kvroof {
namespace {

void run_once(const Arm& arm, bool keep, ArmSamples& into) {
  if (!into.status.ok()) return;
  auto observation = arm();
  if (!observation.ok()) {
    into.status = observation.status();
  } else if (keep) {
    into.observations.push_back(std::move(*observation));
  }
}

// One run of each arm, from `first` on and round again, so that each arm leads equally often.
void run_round(std::span<const Arm> arms, std::size_t first, bool keep,
               std::vector<ArmSamples>& all) {
  for (std::size_t i = 0; i < arms.size(); ++i) {
    const std::size_t arm = (first + i) % arms.size();
    run_once(arms[arm], keep, all[arm]);
  }
}

bool narrow_enough(const ArmSamples& samples, const SamplerConfig& config) {
  if (samples.observations.size() < std::max<std::uint32_t>(config.min_samples, 2)) return false;
  const std::vector<double> seconds = samples.seconds();
  const auto interval = median_interval(seconds, config.seed);
  return interval && relative_half_width(*interval, median(seconds)) <= config.target_half_width;
}

// True where no arm needs another round. Judges each anew: an interval can widen again.
bool judge(std::vector<ArmSamples>& all, const SamplerConfig& config) {
  bool done = true;
  for (ArmSamples& samples : all) {
    samples.enough = samples.status.ok() && narrow_enough(samples, config);
    done &= samples.enough || !samples.status.ok();
  }
  return done;
}

}  // namespace

std::vector<double> ArmSamples::seconds() const {
  std::vector<double> values;
  for (const Observation& one : observations) values.push_back(one.seconds);
  return values;
}

std::vector<double> ArmSamples::extra(std::size_t index) const {
  std::vector<double> values;
  for (const Observation& one : observations) values.push_back(one.extras.at(index));
  return values;
}

std::vector<ArmSamples> sample_interleaved(std::span<const Arm> arms, const SamplerConfig& config) {
  std::vector<ArmSamples> all(arms.size());
  if (config.virtual_time) {
    run_round(arms, 0, true, all);
    return all;
  }
  const auto clock = config.clock ? config.clock : monotonic_seconds;
  const double started = clock();
  std::size_t first = arms.empty() ? 0 : config.seed % arms.size();
  for (std::uint32_t i = 0; i < config.warm_ups; ++i) run_round(arms, first++, false, all);
  for (std::uint32_t round = 0; round < config.max_samples; ++round) {
    run_round(arms, first++, true, all);
    const bool late = clock() - started >= config.max_seconds;
    if (judge(all, config) || (late && round + 1 >= config.min_samples)) break;
  }
  return all;
}

}  // namespace kvroof
