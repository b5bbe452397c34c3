// SPDX-License-Identifier: Apache-2.0
// The grid's command-line flags: one table, a row an axis.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "suites/harness/grid.h"
#include "suites/harness/grid_values.h"

namespace kvroof {
namespace {

constexpr std::uint64_t kMaxContext = 16 << 20, kMaxSequences = 1 << 16, kMaxBlockTokens = 4096,
                        kMaxChunkBlocks = 1 << 16;

// Of vLLM: 3 ms a request, from time to first token with every token in the GPU's cache already (1
// to 8 ms by setting), and 5 us a 16-token block of a load (3 to 6).
constexpr double kVllmFirstStepSeconds = 3e-3, kVllmPrepareSeconds = 5e-6;
constexpr Bounds kVllmFirstStep{1e-3, 8e-3}, kVllmPrepare{3e-6, 6e-6};

Status invalid(std::string text) { return {Code::invalid, std::move(text)}; }

template <class T, std::uint64_t kMinimum, std::uint64_t kMaximum, std::vector<T> Grid::*kAxis>
Status set_counts(Grid& grid, std::string_view text) {
  const auto values = parse_counts(text, kMinimum, kMaximum);
  if (!values.ok()) return values.status();
  (grid.*kAxis).clear();
  for (const std::uint64_t value : *values) (grid.*kAxis).push_back(static_cast<T>(value));
  return {};
}

// A comma-separated list of the names of `all`, none twice.
template <class T>
Status set_names(std::vector<T>& axis, std::string_view text, std::initializer_list<T> all) {
  std::vector<std::string_view> names;
  for (const T value : all) names.push_back(name(value));
  std::vector<T> chosen;
  for (const std::string_view part : split(text, ',')) {
    const auto at = std::find(names.begin(), names.end(), part);
    if (at == names.end()) {
      return invalid(fmt::format("{} is not known, expected one of {}", in_quotes(part),
                                 fmt::join(names, ", ")));
    }
    const T value = *(all.begin() + (at - names.begin()));
    if (std::find(chosen.begin(), chosen.end(), value) != chosen.end()) {
      return invalid(in_quotes(part) + " is given twice");
    }
    chosen.push_back(value);
  }
  axis = chosen;
  return {};
}

Status set_kv_dtype(Grid& grid, std::string_view text) {
  return set_names(grid.kv_dtype, text, {DType::bf16, DType::f32, DType::fp8, DType::int8});
}

Status set_layout(Grid& grid, std::string_view text) {
  return set_names(grid.layout, text, {Layout::block_first, Layout::layer_first});
}

Status set_copy(Grid& grid, std::string_view text) {
  return set_names(grid.copy, text,
                   {CopyKind::dma, CopyKind::batch, CopyKind::kernel, CopyKind::staged});
}

Status set_plan(Grid& grid, std::string_view text) {
  return set_names(grid.plan, text, {PlanKind::recompute, PlanKind::copy, PlanKind::hybrid});
}

Status set_pipeline(Grid& grid, std::string_view text) {
  return set_names(grid.pipeline, text, {PipelineKind::request, PipelineKind::layer});
}

Status set_link(Grid& grid, std::string_view text) {
  std::vector<std::string> links;
  for (const std::string_view part : split(text, ',')) {
    const auto link = parse_link(part);
    if (!link.ok()) return link.status();
    if (std::find(links.begin(), links.end(), *link) != links.end()) {
      return invalid(in_quotes(part) + " is given twice");
    }
    links.push_back(*link);
  }
  grid.link = links;
  return {};
}

Status set_serving_cost(Grid& grid, std::string_view text) {
  ServingCost cost{.text = std::string(text)};
  if (text == "vllm") {
    cost.first_step_seconds = kVllmFirstStepSeconds;
    cost.prepare_seconds_per_16_tokens = kVllmPrepareSeconds;
    cost.first_step_range = kVllmFirstStep;
    cost.prepare_range = kVllmPrepare;
  } else if (text != "none") {
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, cost.first_step_seconds);
    const bool in_range = cost.first_step_seconds > 0 && cost.first_step_seconds <= 60;
    if (error != std::errc() || stop != end || !in_range) {
      return invalid(in_quotes(text) +
                     " is not known, expected none, vllm or seconds (above 0, up to 60)");
    }
  }
  grid.serving_cost = cost;
  return {};
}

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

constexpr std::array kFlags = {
    GridFlag{"grid", "preset of all axes: quick (these defaults), full", set_preset},
    GridFlag{"context", "tokens: 10k (10240),20k,...,100k [1k,10k,100k]",
             set_counts<std::uint64_t, 1, kMaxContext, &Grid::context_tokens>},
    GridFlag{"batch", "requests restored at once [1]",
             set_counts<std::uint32_t, 1, kMaxSequences, &Grid::batch>},
    GridFlag{"live", "sequences that decode meanwhile [0]",
             set_counts<std::uint32_t, 0, kMaxSequences, &Grid::live>},
    GridFlag{"kv-dtype", "bf16, f32, fp8 (simulated); int8 is skipped [bf16]", set_kv_dtype},
    GridFlag{"block-tokens", "tokens a block [16]",
             set_counts<std::uint32_t, 1, kMaxBlockTokens, &Grid::block_tokens>},
    GridFlag{"blocks-per-chunk", "blocks a chunk [16]",
             set_counts<std::uint32_t, 1, kMaxChunkBlocks, &Grid::blocks_per_chunk>},
    GridFlag{"layout", "of a block: block_first, layer_first [block_first]", set_layout},
    GridFlag{"copy", "dma; batch, kernel, staged are skipped [dma]", set_copy},
    GridFlag{"plan", "recompute,copy,hybrid [recompute,copy]", set_plan},
    GridFlag{"pipeline", "request; layer is skipped [request]", set_pipeline},
    GridFlag{"link", "native, pcie4x16, nvlink-c2c, 20GB/s [native]", set_link},
    GridFlag{"serving-cost", "CPU time a request: none, vllm, or seconds [none]", set_serving_cost},
};

}  // namespace

std::span<const GridFlag> grid_flags() { return kFlags; }

Result<Grid> parse_grid(const std::map<std::string, std::string>& flags) {
  Grid grid;
  std::size_t known = 0;
  for (const GridFlag& flag : kFlags) {
    const auto given = flags.find(std::string(flag.name));
    if (given == flags.end()) continue;
    ++known;
    if (Status status = flag.apply(grid, given->second); !status.ok()) {
      return invalid(fmt::format("--{}: {}", flag.name, status.text));
    }
  }
  if (known != flags.size()) return invalid("a flag that is no axis of the grid was given");
  return grid;
}

}  // namespace kvroof
