// SPDX-License-Identifier: Apache-2.0
#include "suites/command/recorded_group.h"

#include <fmt/format.h>

#include <algorithm>

#include "suites/harness/grid_axes.h"
#include "suites/harness/params_text.h"

namespace kvroof {
namespace {

std::string odd_params(const Json& params, const Json& group) {
  for (const auto& [key, value] : group.items()) {
    if (!params.contains(key)) return fmt::format("has a case without {}", param_title(key));
    if (params[key] == value) continue;
    return fmt::format("has a case of {} {} where {} is expected", param_title(key),
                       param_text(key, params[key]), param_text(key, value));
  }
  return {};
}

std::string odd_draws(const Case& one, std::uint32_t draws) {
  for (const auto& [key, metric] : one.metrics) {
    const bool drawn = key == "ttft" || !metric.draws.empty();
    if (!drawn || metric.draws.size() == draws) continue;
    return fmt::format("has a case with {} draws of {} where {} are expected", metric.draws.size(),
                       key, draws);
  }
  return {};
}

}  // namespace

std::string what_is_odd(std::string_view suite, const ComparisonGroup& group, std::uint32_t draws,
                        std::span<const Case> cases) {
  const Json params = group_params(group.point);
  for (const Case& one : cases) {
    if (one.suite != suite) return fmt::format("has a case of suite {}", one.suite);
    if (std::string odd = odd_params(one.params, params); !odd.empty()) return odd;
    if (std::string odd = odd_draws(one, draws); !odd.empty()) return odd;
  }
  for (const PlanKind plan : group.plans) {
    const auto of_plan = [plan](const Case& one) {
      return one.params.contains("plan") && one.params["plan"] == name(plan);
    };
    if (std::ranges::count_if(cases, of_plan) != 1) {
      return fmt::format("has no case of plan {}, or several", name(plan));
    }
  }
  if (cases.size() == group.plans.size()) return {};
  return fmt::format("has {} cases where {} are expected", cases.size(), group.plans.size());
}

}  // namespace kvroof
