// SPDX-License-Identifier: Apache-2.0
#include "suites/harness/grid_axes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <concepts>
#include <type_traits>
#include <utility>

#include "suites/harness/grid_values.h"
#include "suites/harness/text_file.h"

namespace kvroof {
namespace {

constexpr std::uint64_t kMaxContext = 16 << 20, kMaxSequences = 1 << 16, kMaxBlockTokens = 4096,
                        kMaxChunkBlocks = 1 << 16;
constexpr std::uint64_t kFewestSecretBytes = 16, kMostSecretBytes = 4096;

Status invalid(std::string text) { return {Code::invalid, std::move(text)}; }

template <auto kValues>
using ValueOf = typename std::remove_cvref_t<decltype(std::declval<Grid>().*kValues)>::value_type;

template <auto kValues, std::uint64_t kMinimum, std::uint64_t kMaximum>
Status set_counts(Grid& grid, std::string_view text) {
  const auto values = parse_counts(text, kMinimum, kMaximum);
  if (!values.ok()) return values.status();
  (grid.*kValues).assign(values->begin(), values->end());
  return {};
}

// Of a comma-separated list, none twice, each read by `parse`.
template <auto kValues, class Parse>
Status set_list(Grid& grid, std::string_view text, Parse parse) {
  std::vector<ValueOf<kValues>> chosen;
  for (const std::string_view part : split(text, ',')) {
    const Result<ValueOf<kValues>> value = parse(part);
    if (!value.ok()) return value.status();
    if (std::ranges::find(chosen, *value) != chosen.end()) {
      return invalid(in_quotes(part) + " is given twice");
    }
    chosen.push_back(*value);
  }
  grid.*kValues = std::move(chosen);
  return {};
}

// Of the names of `kAll`.
template <auto kValues, auto... kAll>
Status set_names(Grid& grid, std::string_view text) {
  using Value = ValueOf<kValues>;
  return set_list<kValues>(grid, text, [](std::string_view part) -> Result<Value> {
    for (const Value value : {kAll...}) {
      if (part == name(value)) return value;
    }
    return invalid(fmt::format("{} is not known, expected one of {}", in_quotes(part),
                               fmt::join(std::array{name(kAll)...}, ", ")));
  });
}

Status set_links(Grid& grid, std::string_view text) {
  return set_list<&Grid::link>(grid, text, parse_link);
}

Status set_host_tiers(Grid& grid, std::string_view text) {
  return set_list<&Grid::host_tier>(grid, text, [](std::string_view part) -> Result<TierSize> {
    if (part == "unbounded") return TierSize{};
    const auto bytes = parse_bytes(part);
    if (!bytes) return invalid(bytes.status().text + ", or unbounded");
    return TierSize{*bytes};
  });
}

std::string_view name(CopyKind kind) { return kind.path ? name(*kind.path) : "auto"; }

Status set_copies(Grid& grid, std::string_view text) {
  return set_list<&Grid::copy>(grid, text, [](std::string_view part) -> Result<CopyKind> {
    for (const CopyKind kind :
         {CopyKind{CopyPath::dma}, CopyKind{CopyPath::batch}, CopyKind{CopyPath::kernel},
          CopyKind{CopyPath::staged}, kCopyAuto}) {
      if (part == name(kind)) return kind;
    }
    return invalid(in_quotes(part) +
                   " is not known, expected one of dma, batch, kernel, staged, auto");
  });
}

Status set_disks(Grid& grid, std::string_view text) {
  return set_list<&Grid::disk>(grid, text, [](std::string_view part) -> Result<DiskSize> {
    if (part == "none") return DiskSize{};
    const auto bytes = parse_bytes(part);
    if (!bytes) return invalid(bytes.status().text + ", or none");
    return DiskSize{*bytes};
  });
}

Status set_serving_cost(Grid& grid, std::string_view text) {
  auto cost = parse_serving_cost(text);
  if (cost) grid.serving_cost = std::move(*cost);
  return cost.status();
}

Status set_check_tokens(Grid& grid, std::string_view text) {
  if (text != "on") return invalid(in_quotes(text) + " is given, and the flag takes no value");
  grid.check_tokens = true;
  return {};
}

// The file's name alone stands on the command line, which the record repeats.
Status set_tenant_secret(Grid& grid, std::string_view path) {
  auto secret = read_text_file(std::string(path), "a file with a secret", kMostSecretBytes);
  if (!secret) {
    return invalid(
        fmt::format("{} can't be read, expected a regular file of at most {} bytes with "
                    "a secret",
                    in_quotes(path), kMostSecretBytes));
  }
  while (secret->ends_with('\n') || secret->ends_with('\r')) secret->pop_back();
  if (secret->size() < kFewestSecretBytes) {
    return invalid(
        fmt::format("{} holds a secret of {} bytes, expected {} at least: write some "
                    "with openssl rand -hex 16",
                    in_quotes(path), secret->size(), kFewestSecretBytes));
  }
  grid.key_hash = KeyHash(secret_of(*secret));
  return {};
}

template <std::same_as<bool> Switch>
Json json_of(Switch is_on) {
  return is_on ? "on" : "off";
}
Json json_of(const KeyHash& hash) { return hash.name(); }
Json json_of(const ServingCost& cost) { return cost.text; }
Json json_of(std::uint64_t count) { return count; }
Json json_of(const std::string& text) { return text; }
Json json_of(CopyKind kind) { return name(kind); }
Json json_of(TierSize size) { return size.bytes == 0 ? Json("unbounded") : Json(size.bytes); }
Json json_of(DiskSize size) { return size.bytes == 0 ? Json("none") : Json(size.bytes); }
template <class Named>
requires std::is_enum_v<Named> Json json_of(Named value) { return name(value); }

template <auto kValues>
std::uint64_t count(const Grid& grid) {
  return (grid.*kValues).size();
}

template <auto kValues>
Json values(const Grid& grid) {
  Json list = Json::array();
  for (const auto& value : grid.*kValues) list.push_back(json_of(value));
  return list;
}

template <auto kValue>
Json value(const GridPoint& point) {
  return json_of(point.*kValue);
}

template <auto kValues, auto kValue>
std::vector<GridPoint> spread(const Grid& grid, const std::vector<GridPoint>& points) {
  std::vector<GridPoint> product;
  product.reserve(points.size() * (grid.*kValues).size());
  for (const GridPoint& point : points) {
    for (const auto& value : grid.*kValues) {
      product.push_back(point);
      product.back().*kValue = value;
    }
  }
  return product;
}

using Apply = Status (*)(Grid& grid, std::string_view text);

template <auto kValues, auto kValue>
constexpr Axis axis(std::string_view param, std::string_view flag, std::string_view help,
                    Apply apply) {
  return {param,           {flag, help, apply}, count<kValues>,
          values<kValues>, value<kValue>,       spread<kValues, kValue>};
}

template <auto kGridValue>
Json the_value(const Grid& grid) {
  return json_of(grid.*kGridValue);
}

template <auto kGridValue, auto kValue>
std::vector<GridPoint> set_all(const Grid& grid, const std::vector<GridPoint>& points) {
  std::vector<GridPoint> product = points;
  for (GridPoint& point : product) point.*kValue = grid.*kGridValue;
  return product;
}

// Of which a grid has one value alone.
template <auto kGridValue, auto kValue>
constexpr Axis single(std::string_view param, GridFlag flag) {
  return {param,
          flag,
          [](const Grid&) -> std::uint64_t { return 1; },
          the_value<kGridValue>,
          value<kValue>,
          set_all<kGridValue, kValue>};
}

constexpr Axis plan(std::string_view help) {
  const Apply apply = set_names<&Grid::plan, PlanKind::recompute, PlanKind::copy, PlanKind::hybrid>;
  return {"plan", {"plan", help, apply}, count<&Grid::plan>, values<&Grid::plan>, nullptr, nullptr};
}

constexpr std::array kAxes = {
    axis<&Grid::context_tokens, &GridPoint::context_tokens>(
        "context_tokens", "context", "tokens: 10k (10240),20k,...,100k [1k,10k,100k]",
        set_counts<&Grid::context_tokens, 1, kMaxContext>),
    axis<&Grid::batch, &GridPoint::batch>("batch", "batch", "requests restored at once [1]",
                                          set_counts<&Grid::batch, 1, kMaxSequences>),
    axis<&Grid::live, &GridPoint::live>("live", "live", "sequences that decode meanwhile [0]",
                                        set_counts<&Grid::live, 0, kMaxSequences>),
    axis<&Grid::kv_dtype, &GridPoint::kv_dtype>(
        "kv_dtype", "kv-dtype", "bf16, f32, fp8 (simulated); int8 is skipped [bf16]",
        set_names<&Grid::kv_dtype, DType::bf16, DType::f32, DType::fp8, DType::int8>),
    axis<&Grid::block_tokens, &GridPoint::block_tokens>(
        "block_tokens", "block-tokens", "tokens a block [16]",
        set_counts<&Grid::block_tokens, 1, kMaxBlockTokens>),
    axis<&Grid::blocks_per_chunk, &GridPoint::blocks_per_chunk>(
        "blocks_per_chunk", "blocks-per-chunk", "blocks a chunk [16]",
        set_counts<&Grid::blocks_per_chunk, 1, kMaxChunkBlocks>),
    axis<&Grid::layout, &GridPoint::layout>(
        "layout", "layout", "of a block: block_first, layer_first [block_first]",
        set_names<&Grid::layout, Layout::block_first, Layout::layer_first>),
    axis<&Grid::copy, &GridPoint::copy>("copy", "copy", "dma, batch, kernel, staged, auto [dma]",
                                        set_copies),
    axis<&Grid::pipeline, &GridPoint::pipeline>(
        "pipeline", "pipeline", "request, layer (of layer_first) [request]",
        set_names<&Grid::pipeline, PipelineKind::request, PipelineKind::layer>),
    axis<&Grid::link, &GridPoint::link>("link", "link",
                                        "native, pcie4x16, nvlink-c2c, 20GB/s [native]", set_links),
    axis<&Grid::host_tier, &GridPoint::host_tier>(
        "host_tier", "host-tier", "bytes: 16GiB, or unbounded [unbounded]", set_host_tiers),
    axis<&Grid::disk, &GridPoint::disk>(
        "disk_bytes", "disk-bytes", "of a tier below it, in --disk: 1TB, none [none]", set_disks),
    axis<&Grid::eviction, &GridPoint::eviction>(
        "eviction", "eviction", "of both tiers: lru, arc, s3fifo [lru]",
        set_names<&Grid::eviction, Eviction::lru, Eviction::arc, Eviction::s3fifo>),
    axis<&Grid::store, &GridPoint::store>(
        "store", "store", "immediate, second-use, on-evict [immediate]",
        set_names<&Grid::store, StorePolicy::immediate, StorePolicy::second_use,
                  StorePolicy::on_evict>),
    axis<&Grid::max_offload_tokens, &GridPoint::max_offload_tokens>(
        "max_offload_tokens", "max-offload-tokens", "stored of a request; 0: all [0]",
        set_counts<&Grid::max_offload_tokens, 0, kMaxContext>),
    axis<&Grid::max_load_tokens, &GridPoint::max_load_tokens>(
        "max_load_tokens", "max-load-tokens", "loaded of a request; 0: all [0]",
        set_counts<&Grid::max_load_tokens, 0, kMaxContext>),
    axis<&Grid::checksum, &GridPoint::checksum>(
        "checksum", "checksum", "of chunks: off, sampled (1 in 16), always [off]",
        set_names<&Grid::checksum, Integrity::off, Integrity::sampled, Integrity::always>),
    single<&Grid::check_tokens, &GridPoint::check_tokens>(
        "check_tokens", {"check-tokens", "a hit has the same token ids, not the key alone",
                         set_check_tokens, true}),
    single<&Grid::key_hash, &GridPoint::key_hash>(
        "key_hash",
        {"tenant-secret", "a file: keys then chain by a keyed hash", set_tenant_secret}),
    single<&Grid::serving_cost, &GridPoint::serving_cost>(
        "serving_cost",
        {"serving-cost", "CPU time a request: none, vllm, or seconds [none]", set_serving_cost}),
    plan("recompute,copy,hybrid [recompute,copy]"),
};

}  // namespace

std::span<const Axis> grid_axes() { return kAxes; }

const Axis* find_axis(std::string_view param) {
  const auto found = std::ranges::find(kAxes, param, &Axis::param);
  return found == kAxes.end() ? nullptr : &*found;
}

std::string param_title(std::string_view param) {
  return std::string(param == "context_tokens" ? "context" : param);
}

}  // namespace kvroof
