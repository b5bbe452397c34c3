// SPDX-License-Identifier: Apache-2.0
#include "suites/harness/grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "suites/harness/grid_axes.h"

namespace kvroof {

std::uint64_t Grid::cases() const {
  std::uint64_t product = 1;
  for (const Axis& axis : grid_axes()) {
    if (__builtin_mul_overflow(product, axis.count(*this), &product)) {
      return std::numeric_limits<std::uint64_t>::max();
    }
  }
  return product;
}

// The axis that is spread last varies fastest: the first one.
Result<std::vector<ComparisonGroup>> expand(const Grid& grid) {
  if (grid.cases() > kMaxCases) {
    return Status{Code::invalid,
                  fmt::format("the grid has more than {} cases: give fewer values", kMaxCases)};
  }
  std::vector<GridPoint> points = {{}};
  const std::span<const Axis> axes = grid_axes();
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
    if (axis->spread) points = axis->spread(grid, points);
  }
  std::vector<ComparisonGroup> groups;
  for (GridPoint& point : points) groups.push_back({std::move(point), grid.plan});
  return groups;
}

Json grid_json(const Grid& grid) {
  Json json;
  for (const Axis& axis : grid_axes()) json[std::string(axis.param)] = axis.values(grid);
  return json;
}

Json group_params(const GridPoint& point) {
  Json params;
  for (const Axis& axis : grid_axes()) {
    if (axis.value) params[std::string(axis.param)] = axis.value(point);
  }
  return params;
}

Json case_params(const GridPoint& point, PlanKind plan) {
  Json params = group_params(point);
  params["plan"] = name(plan);
  return params;
}

bool is_of(const Json& params, const Json& group) {
  const auto items = group.items();
  return std::all_of(items.begin(), items.end(), [&](const auto& item) {
    return params.contains(item.key()) && params[item.key()] == item.value();
  });
}

std::string group_name(std::string_view suite, std::string_view model, const GridPoint& point) {
  std::string text = fmt::format("{}/{}", suite, model);
  for (const Axis& axis : grid_axes()) {
    if (!axis.value) continue;
    const Json value = axis.value(point);
    text += fmt::format("/{}:{}", param_title(axis.param),
                        value.is_string() ? value.get<std::string>() : value.dump());
  }
  return text;
}

}  // namespace kvroof
