// SPDX-License-Identifier: Apache-2.0
// The grid's command-line flags: the preset, and one an axis.
#include <fmt/format.h>

#include "suites/harness/grid.h"
#include "suites/harness/grid_axes.h"
#include "suites/harness/grid_values.h"

namespace kvroof {
namespace {

Status invalid(std::string text) { return {Code::invalid, std::move(text)}; }

Status set_preset(Grid& grid, std::string_view text) {
  if (text != "quick" && text != "full")
    return invalid(in_quotes(text) + " is not known, expected quick or full");
  grid = {};
  if (text == "quick") return {};
  grid.context_tokens.clear();
  for (std::uint64_t k = 1; k <= 128; k *= 2) grid.context_tokens.push_back(k * 1024);
  grid.batch = {1, 4, 16};
  grid.live = {0, 8};
  grid.kv_dtype = {DType::bf16, DType::fp8};
  grid.plan = {PlanKind::recompute, PlanKind::copy, PlanKind::hybrid};
  return {};
}

std::vector<GridFlag> all_flags() {
  std::vector<GridFlag> flags = {
      {"grid", "preset of all axes: quick (these defaults), full", set_preset}};
  for (const Axis& axis : grid_axes()) flags.push_back(axis.flag);
  return flags;
}

}  // namespace

std::span<const GridFlag> grid_flags() {
  static const std::vector<GridFlag> kFlags = all_flags();
  return kFlags;
}

Result<Grid> parse_grid(const std::map<std::string, std::string>& flags) {
  Grid grid;
  auto unknown = flags;
  for (const GridFlag& flag : grid_flags()) {
    const auto given = flags.find(std::string(flag.name));
    if (given == flags.end()) continue;
    unknown.erase(given->first);
    if (Status status = flag.apply(grid, given->second); !status.ok()) {
      return invalid(fmt::format("--{}: {}", flag.name, status.text));
    }
  }
  if (unknown.empty()) return grid;
  return invalid(fmt::format("--{}: is no axis of the grid", unknown.begin()->first));
}

}  // namespace kvroof
