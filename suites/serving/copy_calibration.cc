// SPDX-License-Identifier: Apache-2.0
#include "suites/serving/copy_calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace kvroof {
namespace {

constexpr std::uint32_t kPasses = 3;  // the middle one counts
constexpr std::uint64_t kMostBytes = 32ull << 20;
constexpr std::uint64_t kRegionBytes[] = {1ull << 10,   4ull << 10, 16ull << 10, 64ull << 10,
                                          256ull << 10, 1ull << 20, 4ull << 20};
constexpr std::uint32_t kChunks[] = {1, 4, 16};

// Blocks of one region.
TransferShape shape_of(std::uint64_t region_bytes, std::uint32_t regions_per_chunk,
                       std::uint32_t chunks) {
  TransferShape shape;
  shape.kv.layout = Layout::block_first;
  shape.kv.dtype = DType::bf16;
  shape.kv.layers = shape.kv.kv_heads = shape.kv.block_tokens = 1;
  shape.kv.planes = 2;
  shape.kv.head_dim = static_cast<std::uint32_t>(region_bytes / (2 * bytes_of(DType::bf16)));
  shape.kv.blocks = regions_per_chunk * chunks;
  shape.blocks_per_chunk = regions_per_chunk;
  shape.chunks = chunks;
  return shape;
}

std::vector<TransferShape> shapes(std::uint32_t regions_per_chunk) {
  std::vector<TransferShape> all;
  for (const std::uint64_t bytes : kRegionBytes) {
    for (const std::uint32_t chunks : kChunks) {
      const std::uint64_t moved = bytes * regions_per_chunk * chunks;
      if (all.empty() || moved <= kMostBytes)
        all.push_back(shape_of(bytes, regions_per_chunk, chunks));
    }
  }
  return all;
}

Result<PathTimes> time_shape(Device& device, TransferShape shape) {
  shape.backed = !device.info().virtual_time;  // a simulator's prices don't depend on contents
  auto cache = device.allocate({MemoryKind::device, shape.kv.cache_bytes(), -1, shape.backed});
  if (!cache) return cache.status();
  return time_paths(device, **cache, shape, kPasses);
}

Status no_path(const PathTimes& times) {
  std::string why;
  for (std::size_t path = 0; path < kCopyPaths; ++path) {
    why += fmt::format("{}{}: {}", why.empty() ? "" : "; ", name(static_cast<CopyPath>(path)),
                       times.unavailable[path]);
  }
  return {Code::unsupported, "no way to copy is left for --copy auto to choose from: " + why};
}

// The first cell stands for all that is smaller as well.
Status add_rules(const CalibrationCell& cell, bool first, std::vector<CopyRule>& rules) {
  for (const Direction direction : {Direction::offload, Direction::load}) {
    const auto best = fastest(cell.times, direction);
    if (!best) return no_path(cell.times);
    rules.push_back({.direction = direction,
                     .region_bytes = first ? 0 : cell.region_bytes,
                     .regions = first ? 0 : cell.regions,
                     .path = *best});
  }
  return {};
}

}  // namespace

Result<CopyCalibration> calibrate_copy(Device& device, std::uint32_t regions_per_chunk) {
  CopyCalibration made;
  made.virtual_time = device.info().virtual_time;
  std::vector<CopyRule> rules;
  for (const TransferShape& shape : shapes(regions_per_chunk)) {
    auto times = time_shape(device, shape);
    if (!times) return times.status();
    made.table.push_back({shape.kv.region_bytes(), shape.regions(), std::move(*times)});
    const bool first = made.table.size() == 1;
    if (Status e = add_rules(made.table.back(), first, rules); !e.ok()) return e;
  }
  made.choice = CopyChoice(std::move(rules));
  return made;
}

CopyChoice any_path() {
  std::vector<CopyRule> rules;
  for (const Direction direction : {Direction::offload, Direction::load}) {
    rules.push_back({.direction = direction, .path = CopyPath::staged});
  }
  return CopyChoice(std::move(rules));
}

}  // namespace kvroof
