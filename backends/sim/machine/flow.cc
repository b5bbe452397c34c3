// SPDX-License-Identifier: Apache-2.0
// Progressive filling over flows.
#include "backends/sim/machine/flow.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace kvroof::sim {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kSlack = 1e-12;  // relative; what rounding may leave of a resource

bool all_fit(std::span<const Flow* const> flows, const Amounts& capacity) {
  for (std::size_t r = 0; r < kResources; ++r) {
    double wanted = 0;
    for (const Flow* flow : flows) wanted += flow->cap * flow->use[r];
    if (wanted > capacity[r] * (1 + kSlack)) return false;
  }
  return true;
}

// Units/s that a flow gains for each point of dominant share.
double weight_of(const Flow& flow, const Amounts& capacity) {
  double dominant = 0;
  for (std::size_t r = 0; r < kResources; ++r) {
    if (flow.use[r] > 0) dominant = std::max(dominant, flow.use[r] / capacity[r]);
  }
  return dominant > 0 ? 1 / dominant : kNever;
}

class Filling {
 public:
  Filling(std::span<const Flow* const> flows, const Amounts& capacity, std::span<double> rates)
      : flows_(flows), left_(capacity), rates_(rates), weights_(flows.size()) {
    for (std::size_t i = 0; i < flows_.size(); ++i) {
      weights_[i] = weight_of(*flows_[i], capacity);
      active_.push_back(i);
    }
  }

  void run() {
    while (!active_.empty()) raise_to(next_level());
  }

 private:
  // The dominant share at which the next flow reaches its cap or the next resource is used up.
  double next_level() {
    double level = kNever;
    for (std::size_t i : active_) level = std::min(level, flows_[i]->cap / weights_[i]);
    for (std::size_t r = 0; r < kResources; ++r) {
      double slope = 0;
      for (std::size_t i : active_) {
        if (flows_[i]->use[r] > 0) slope += weights_[i] * flows_[i]->use[r];
      }
      full_at_[r] = slope > 0 ? std::max(left_[r], 0.0) / slope : kNever;
      level = std::min(level, full_at_[r]);
    }
    return level;
  }

  // Freezes what can rise no further, and takes its use out of what is left.
  void raise_to(double level) {
    std::erase_if(active_, [&](std::size_t i) {
      const Flow& flow = *flows_[i];
      const double reached = level * (1 + kSlack);
      const bool capped = flow.cap / weights_[i] <= reached;
      bool frozen = capped;
      for (std::size_t r = 0; r < kResources; ++r) {
        frozen = frozen || (flow.use[r] > 0 && full_at_[r] <= reached);
      }
      if (!frozen) return false;
      rates_[i] = capped ? flow.cap : level * weights_[i];
      for (std::size_t r = 0; r < kResources; ++r) left_[r] -= rates_[i] * flow.use[r];
      return true;
    });
  }

  std::span<const Flow* const> flows_;
  Amounts left_;
  Amounts full_at_{};
  std::span<double> rates_;
  std::vector<double> weights_;
  std::vector<std::size_t> active_;
};

}  // namespace

void share(std::span<const Flow* const> flows, const Amounts& capacity, std::span<double> rates) {
  if (all_fit(flows, capacity)) {
    for (std::size_t i = 0; i < flows.size(); ++i) rates[i] = flows[i]->cap;
    return;
  }
  Filling(flows, capacity, rates).run();
}

}  // namespace kvroof::sim
