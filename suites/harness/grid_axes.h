// SPDX-License-Identifier: Apache-2.0
// The axes of the grid: one table, a row an axis. A new axis is a member of Grid and of GridPoint,
// and a row.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "suites/harness/grid.h"
#include "suites/harness/json.h"

namespace kvroof {

struct Axis {
  std::string_view param;  // in the record: "context_tokens"
  GridFlag flag;           // on the command line: "context"
  std::uint64_t (*count)(const Grid& grid);
  Json (*values)(const Grid& grid);
  // Of a comparison group; null for the plan, by which its arms differ.
  Json (*value)(const GridPoint& point);
  // Each of `points` once with every value of the axis.
  std::vector<GridPoint> (*spread)(const Grid& grid, const std::vector<GridPoint>& points);
};

// In the order of a case's params.
std::span<const Axis> grid_axes();

// The axis whose param this is, or null.
const Axis* find_axis(std::string_view param);

// What people read: "context" for context_tokens, otherwise the param itself.
std::string param_title(std::string_view param);

}  // namespace kvroof
