// SPDX-License-Identifier: Apache-2.0
// The parameter grid of a run: its axes, their text on the command line, and the comparison groups
// that it expands to.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/api/dtype.h"
#include "backends/api/status.h"
#include "kernels/model/kv_layout.h"
#include "suites/harness/json.h"
#include "suites/harness/serving_cost.h"
#include "transfer/eviction/policy.h"
#include "transfer/integrity/integrity.h"
#include "transfer/keys/key_hash.h"
#include "transfer/lanes/chunk_copy.h"
#include "transfer/tier/store_policy.h"

namespace kvroof {

enum class PlanKind : std::uint8_t { recompute, copy, hybrid };
enum class PipelineKind : std::uint8_t { request, layer };

constexpr std::string_view name(PlanKind plan) {
  constexpr std::string_view kNames[] = {"recompute", "copy", "hybrid"};
  return kNames[static_cast<std::size_t>(plan)];
}
constexpr std::string_view name(PipelineKind pipeline) {
  return pipeline == PipelineKind::request ? "request" : "layer";
}

// How a case's chunks are copied: by one path, or by the one that a calibration run found fastest
// for transfers like it.
struct CopyKind {
  std::optional<CopyPath> path = CopyPath::dma;  // empty: auto
  bool operator==(const CopyKind&) const = default;
};
constexpr CopyKind kCopyAuto{std::nullopt};

// Of the host tier, for all of a model's layers.
struct TierSize {
  std::uint64_t bytes = 0;  // 0: unbounded, which is all that a case may store
  bool operator==(const TierSize&) const = default;
};

// Of the disk tier below it.
struct DiskSize {
  std::uint64_t bytes = 0;  // 0: there is none
  bool operator==(const DiskSize&) const = default;
};

// One value of every axis but the plan: what the arms of a comparison group share.
struct GridPoint {
  std::uint64_t context_tokens = 0;
  std::uint32_t batch = 1, live = 0;
  DType kv_dtype = DType::bf16;
  std::uint32_t block_tokens = 16, blocks_per_chunk = 16;
  Layout layout = Layout::block_first;
  CopyKind copy{};
  PipelineKind pipeline = PipelineKind::request;
  std::string link = "native";
  TierSize host_tier{};
  DiskSize disk{};
  Eviction eviction = Eviction::lru;
  std::uint64_t max_offload_tokens = 0, max_load_tokens = 0;  // of one request; 0: no limit
  StorePolicy store = StorePolicy::immediate;
  Integrity checksum = Integrity::off;
  bool check_tokens = false;
  KeyHash key_hash{};  // with the tenant's secret, where one was given
  ServingCost serving_cost{};
};

struct ComparisonGroup {
  GridPoint point;
  std::vector<PlanKind> plans;  // the arms, in the order given
};

struct Grid {
  std::vector<std::uint64_t> context_tokens = {1024, 10240, 102400};
  std::vector<std::uint32_t> batch = {1}, live = {0};
  std::vector<DType> kv_dtype = {DType::bf16};
  std::vector<std::uint32_t> block_tokens = {16}, blocks_per_chunk = {16};
  std::vector<Layout> layout = {Layout::block_first};
  std::vector<CopyKind> copy = {{}};
  std::vector<PlanKind> plan = {PlanKind::recompute, PlanKind::copy};
  std::vector<PipelineKind> pipeline = {PipelineKind::request};
  std::vector<std::string> link = {"native"};
  std::vector<TierSize> host_tier = {{}};
  std::vector<DiskSize> disk = {{}};
  std::vector<Eviction> eviction = {Eviction::lru};
  std::vector<std::uint64_t> max_offload_tokens = {0}, max_load_tokens = {0};
  std::vector<StorePolicy> store = {StorePolicy::immediate};
  std::vector<Integrity> checksum = {Integrity::off};
  bool check_tokens = false;
  KeyHash key_hash;
  ServingCost serving_cost;

  std::uint64_t cases() const;  // UINT64_MAX where the product overflows
};

// A flag of the grid, for the command line to offer: --NAME, with a line of help that has its
// values.
struct GridFlag {
  std::string_view name, help;
  Status (*apply)(Grid& grid, std::string_view text);  // errors name the value, not the flag
  bool is_switch = false;  // given without a value, which apply() then gets as "on"
};
std::span<const GridFlag> grid_flags();  // "grid" (the preset) first

// `flags` maps names of grid_flags() to their text; those left out have the preset's value (quick).
// `invalid` names the flag, the value and what is expected.
Result<Grid> parse_grid(const std::map<std::string, std::string>& flags);

constexpr std::uint64_t kMaxCases = 100'000;

// Context varies fastest. `invalid` where the grid has more than kMaxCases cases.
Result<std::vector<ComparisonGroup>> expand(const Grid& grid);

// The values of every axis, by the names of a case's params; of what has one alone, that.
Json grid_json(const Grid& grid);

// The record's params of one case; those of a group have no plan.
Json group_params(const GridPoint& point);
Json case_params(const GridPoint& point, PlanKind plan);

// Whether a case of these params is of the group of those.
bool is_of(const Json& params, const Json& group);

// "ttft/llama-3.1-8b/context:10240/batch:1/kv_dtype:bf16/...", for Google Benchmark.
std::string group_name(std::string_view suite, std::string_view model, const GridPoint& point);

}  // namespace kvroof
