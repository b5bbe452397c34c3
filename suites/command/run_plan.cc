// SPDX-License-Identifier: Apache-2.0
#include "suites/command/run_plan.h"

#include <algorithm>
#include <map>
#include <utility>

#include "suites/command/suite_pool.h"
#include "suites/harness/sampler.h"

namespace kvroof {
namespace {

// Of simulating on two cores of a shared virtual machine: a pass, a copied region, and once a byte
// of contents that is written, moved and compared.
constexpr double kSecondsPerPass = 50e-6, kSecondsPerRegion = 0.12e-6, kSecondsPerByte = 2.3e-9;

bool runs(const PlannedCase& one) { return one.reason.empty(); }

// Found once a link and dtype: it may take a second to measure them.
class Roofs {
 public:
  Result<Ceilings> of(Device& device, const std::string& link, DType dtype) {
    auto known = known_.find({link, dtype});
    if (known == known_.end()) {
      known = known_.emplace(std::pair(link, dtype), find_ceilings(device, dtype)).first;
    }
    return known->second;
  }

 private:
  std::map<std::pair<std::string, DType>, Result<Ceilings>> known_;
};

// Shares of a roof are part of every case, so none runs without.
void skip_all(GroupPlan& plan, const std::string& why) {
  for (PlannedCase& one : plan.cases) {
    if (runs(one)) one.reason = why;
  }
}

// A simulated device's cost is that of simulating every draw.
void add_simulated(const PlannedGroup& group, std::uint32_t draws, RunPlan& plan) {
  double seconds = static_cast<double>(group.plan.contents) * kSecondsPerByte;
  for (const PlannedCase& one : group.plan.cases) {
    if (!runs(one)) continue;
    plan.passes += 1 + draws;
    seconds +=
        (1.0 + draws) * (kSecondsPerPass + static_cast<double>(one.regions) * kSecondsPerRegion);
  }
  plan.wall.least += seconds;
  plan.wall.most += seconds;
}

// A real device samples its arms until the intervals are narrow enough.
void add_sampled(const PlannedGroup& group, WallTime& to) {
  const SamplerConfig sampling;
  double round = 0;
  for (const PlannedCase& one : group.plan.cases) {
    round += least_seconds(one, group.roofs).value_or(0);
  }
  const double fewest = sampling.min_samples * round, most = sampling.max_samples * round;
  to.least += fewest;
  to.most += std::max(fewest, std::min(most, group.plan.sampling_seconds));
}

}  // namespace

std::optional<double> least_seconds(const PlannedCase& one, const Ceilings& roofs) {
  if (!runs(one) || !one.counted || roofs.flops <= 0 || roofs.link_in <= 0) return std::nullopt;
  return std::max(static_cast<double>(one.bytes) / roofs.link_in, one.flops / roofs.flops);
}

RunPlan make_plan(Job& job, const Runner& runner, std::span<const std::size_t> selected) {
  RunPlan plan;
  SuitePool pool(job);
  Roofs roofs;
  for (const std::size_t i : selected) {
    const ComparisonGroup& group = runner.group_of(i);
    PlannedGroup made{std::string(runner.suite_of(i).name), group_params(group.point), {}, {}};
    made.plan = pool.get(runner.suite_of(i), group.point.link).plan(group);
    if (std::ranges::any_of(made.plan.cases, runs)) {
      const auto found = roofs.of(pool.device(), group.point.link, made.plan.dtype);
      if (found) made.roofs = *found;
      plan.measured_roofs |= made.roofs.measured;
      if (!found) skip_all(made.plan, found.status().text);
    }
    if (job.device->info().virtual_time) {
      add_simulated(made, job.draws, plan);
    } else {
      add_sampled(made, plan.wall);
    }
    plan.groups.push_back(std::move(made));
  }
  return plan;
}

}  // namespace kvroof
