// SPDX-License-Identifier: Apache-2.0
// Round trips: blocks of every layout, order, type and one or two KV heads leave for the tier and
// come back to other blocks, whole and in part.
#include <algorithm>
#include <numeric>
#include <random>

#include "suites/verify/cell.h"
#include "suites/verify/checks.h"

namespace kvroof {
namespace {

constexpr std::uint32_t kChunks = 5;

std::vector<ChunkKey> some_keys(std::uint64_t count) {
  std::vector<ChunkKey> keys;
  for (std::uint64_t n = 1; n <= count; ++n) keys.push_back({n * 0x9E3779B97F4A7C15ull, n});
  return keys;
}

struct Trip {
  std::vector<BlockId> from, to;     // kChunks of blocks each, in another order
  std::vector<std::uint32_t> names;  // of `from`
};

Trip make_trip(const CellSpec& spec, std::uint64_t seed) {
  std::vector<BlockId> all(spec.kv.blocks);
  std::iota(all.begin(), all.end(), 0u);
  std::mt19937_64 random(seed);
  std::shuffle(all.begin(), all.end(), random);
  const std::size_t count = std::size_t{kChunks} * spec.blocks_per_chunk;
  Trip trip;
  trip.from.assign(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count));
  std::shuffle(all.begin(), all.end(), random);  // some are loaded to where others came from
  trip.to.assign(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count));
  for (std::uint32_t i = 0; i < count; ++i) trip.names.push_back(100 + i);
  return trip;
}

// All of the cache is something else.
Status overwrite(Cell& cell) {
  std::vector<BlockId> all(cell.spec().kv.blocks);
  std::iota(all.begin(), all.end(), 0u);
  const auto fences = cell.fences_for_write(all);
  if (!fences) return fences.status();
  std::vector<std::uint32_t> names(all.size());
  std::iota(names.begin(), names.end(), 1000u);
  const auto point = cell.write(all, names, *fences);
  if (!point) return point.status();
  cell.engine().note_write(all, *point);
  return cell.wait(*point);
}

Status store(Cell& cell, const Trip& trip, const std::vector<ChunkKey>& keys) {
  const auto written = cell.write(trip.from, trip.names);
  if (!written) return written.status();
  cell.engine().note_write(trip.from, *written);
  return cell.wait(cell.engine().offload(keys, trip.from)).status();
}

// Loads all but the first `skip` and the last `leave` blocks, and looks at the whole cache.
Status load_and_compare(Cell& cell, const Trip& trip, std::span<const ChunkKey> keys,
                        std::uint32_t skip, std::uint32_t leave, Finding& finding) {
  if (Status e = overwrite(cell); !e.ok()) return e;
  const std::size_t count = trip.to.size() - skip - leave;
  const auto to = std::span(trip.to).subspan(skip, count);
  const auto done = cell.wait(cell.engine().load(keys, to, {.skip_blocks = skip}));
  if (!done) return done.status();
  std::vector<BlockId> all(cell.spec().kv.blocks);
  std::iota(all.begin(), all.end(), 0u);
  std::vector<std::uint32_t> names(all.size());
  std::iota(names.begin(), names.end(), 1000u);
  for (std::size_t i = 0; i < count; ++i) names[to[i]] = trip.names[skip + i];
  const auto wrong = cell.mismatch(all, names);
  if (!wrong) return wrong.status();
  finding.wrong = *wrong;
  finding.compared += cell.vectors(all.size());
  return {};
}

Finding round_trip(const VerifySetup& setup, const CellSpec& spec) {
  Finding finding;
  auto cell = Cell::create(setup.device, spec);
  if (!cell) return {.status = cell.status(), .wrong = {}};
  const Trip trip = make_trip(spec, setup.seed);
  const std::vector<ChunkKey> keys = some_keys(kChunks);
  finding.status = store(**cell, trip, keys);
  for (const auto& [skip, leave] : {std::pair{0u, 0u}, {1u, 0u}, {3u, 2u}}) {
    if (!finding.status.ok() || !finding.wrong.empty()) break;
    finding.status = load_and_compare(**cell, trip, keys, skip, leave, finding);
  }
  return finding;
}

}  // namespace

std::vector<Case> round_trips(const VerifySetup& setup) {
  std::vector<Case> cases;
  for (const Layout layout : {Layout::block_first, Layout::layer_first}) {
    for (const KvOrder order : {KvOrder::nhd, KvOrder::hnd, KvOrder::packed}) {
      for (const DType dtype : {DType::bf16, DType::f32, DType::fp8, DType::int8}) {
        for (const std::uint32_t heads : {1u, 2u}) {
          const CellSpec spec{.kv = cell_layout(layout, order, dtype, heads)};
          Case made = make_case(setup, "round_trip", round_trip(setup, spec), "vectors_compared");
          made.params["layout"] = name(layout);
          made.params["kv_order"] = name(order);
          made.params["kv_dtype"] = name(dtype);
          made.params["kv_heads"] = heads;
          cases.push_back(std::move(made));
        }
      }
    }
  }
  return cases;
}

}  // namespace kvroof
