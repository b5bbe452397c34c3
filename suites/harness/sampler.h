// SPDX-License-Identifier: Apache-2.0
// Samples arms that are compared: warmed alike, then run in turn, round after round, so that drift
// of the machine falls on all of them.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "backends/api/status.h"

namespace kvroof {

// One run of an arm. `extras` are further figures of the same run, in an order of the arm's
// choosing.
struct Observation {
  double seconds = 0;
  std::vector<double> extras;
};

using Arm = std::function<Result<Observation>()>;

struct SamplerConfig {
  double target_half_width = 0.05;  // of the 95 % interval, relative to the median
  std::uint32_t warm_ups = 1;       // of each arm, not kept
  std::uint32_t min_samples = 5, max_samples = 30;
  double max_seconds = 120;       // on `clock`, warm-ups included; never cuts below min_samples
  bool virtual_time = false;      // deterministic: each arm runs exactly once, without a warm-up
  std::uint64_t seed = 1;         // of the order within a round, and of the intervals
  std::function<double()> clock;  // seconds; empty: monotonic_seconds
};

struct ArmSamples {
  std::vector<Observation> observations;  // one a round, as far as the arm got
  Status status;                          // the first failure; the arm is not run again after it
  bool enough = false;  // the interval got narrow enough; always false under virtual time

  std::vector<double> seconds() const;
  std::vector<double> extra(std::size_t index) const;
};

// In the order of `arms`. Stops when every arm that has not failed is narrow enough with at least
// min_samples, at max_samples, or, with min_samples, once max_seconds have passed.
std::vector<ArmSamples> sample_interleaved(std::span<const Arm> arms, const SamplerConfig& config);

}  // namespace kvroof
