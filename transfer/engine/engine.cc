// SPDX-License-Identifier: Apache-2.0
// Creating the engine and answering questions. Taking in requests: engine_requests.cc; driving the
// lanes: engine_drive.cc; ending what goes on for too long: engine_expiry.cc.
#include "transfer/engine/engine.h"

#include <algorithm>
#include <cassert>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "transfer/engine/engine_impl.h"

namespace kvroof {
namespace {

// Keys that store policy second_use remembers, of each chunk that the tier holds: prefixes that do
// not fit the tier must be known again.
constexpr std::uint64_t kNotedPerChunk = 4;

StoredForm stored_form(const EngineConfig& config) { return {config.kv, config.transfer_dtype}; }

Status check_config(const Buffer& cache, const EngineConfig& config) {
  const KvLayout& kv = config.kv;
  if (config.blocks_per_chunk == 0 || kv.cache_bytes() == 0) {
    return {Code::invalid,
            "An engine needs a KV layout with blocks of at least one byte, and at "
            "least one block a chunk."};
  }
  if (cache.facts().bytes < kv.cache_bytes()) {
    return {Code::invalid, "The KV layout needs a cache of " + std::to_string(kv.cache_bytes()) +
                               " bytes, but the buffer has " + std::to_string(cache.facts().bytes) +
                               ": allocate more."};
  }
  if (config.transfer_dtype && config.copy != CopyChoice(CopyPath::staged)) {
    return {Code::invalid, "Chunks that are narrowed pass a staging buffer: copy them staged."};
  }
  return stored_form(config).check();
}

// Adds `point` unless it is there.
void add_point(std::vector<Point>& points, std::optional<Point> point) {
  if (!point) return;
  const bool known = std::any_of(points.begin(), points.end(), [&](const Point& other) {
    return other.queue == point->queue && other.ticket == point->ticket;
  });
  if (!known) points.push_back(*point);
}

Status still_waiting() {
  return {Code::busy, "A copy of one of these blocks waits in its lane: poll, then ask again."};
}

std::uint64_t chunk_bytes(const EngineConfig& config) {
  return stored_form(config).block_bytes() * config.blocks_per_chunk;
}

std::uint64_t most_open(const EngineConfig& config) {
  return open_copies(chunk_bytes(config), config.lane_bytes_in_flight);
}

bool stages(const EngineConfig& config, Direction direction) {
  return config.copy.may_take(direction, CopyPath::staged);
}

// Whether checksums are ops of their own.
bool sums_by_op(const Device& device, const EngineConfig& config) {
  return config.integrity != Integrity::off && !device.info().sums_copies;
}

template <class T>
Status keep(Result<T> from, std::optional<T>& to) {
  if (!from) return from.status();
  to = std::move(*from);
  return {};
}

Result<ChainPlanner> create_planner(Device& device, Buffer& cache, const EngineConfig& config,
                                    Direction direction) {
  CopyPlaces places;
  const std::uint64_t count = most_open(config);
  const StoredForm form = stored_form(config);
  const std::uint32_t blocks = config.blocks_per_chunk;
  Status status;
  if (stages(config, direction) || sums_by_op(device, config)) {
    status = keep(RowIndex::create(device, form.kv, blocks, count), places.index);
  }
  if (status.ok() && stages(config, direction)) {
    status = keep(Staging::create(device, form, blocks, count, config.backed), places.staging);
  }
  if (status.ok() && config.integrity != Integrity::off) {
    status = keep(SumPlaces::create(device, form, blocks, count, config.backed), places.sums);
  }
  if (!status.ok()) return status;
  return ChainPlanner(direction, form, cache, device.info(), std::move(places));
}

// Of a chunk that is loaded in part the rest is summed by an op everywhere.
bool has_ops(const Device& device, const EngineConfig& config, Direction direction) {
  if (stages(config, direction) || sums_by_op(device, config)) return true;
  return direction == Direction::load && config.integrity != Integrity::off;
}

// Loads come first: a request waits for them.
Result<Lane> create_lane(Device& device, const EngineConfig& config, Direction direction) {
  const bool load = direction == Direction::load;
  return Lane::create(device, {.kind = load ? QueueKind::copy_in : QueueKind::copy_out,
                               .priority = load ? Priority::high : Priority::low,
                               .ops = has_ops(device, config, direction),
                               .most_open = most_open(config),
                               .layers = config.kv.layers});
}

Result<std::unique_ptr<Engine>> assemble(Device& device, Buffer& cache,
                                         const EngineConfig& config) {
  auto tier = HostTier::create(device, {.chunk_bytes = chunk_bytes(config),
                                        .bytes = config.host_tier_bytes,
                                        .backed = config.backed,
                                        .eviction = config.eviction,
                                        .sums = config.integrity != Integrity::off});
  if (!tier.ok()) return tier.status();
  auto offloads = create_planner(device, cache, config, Direction::offload);
  if (!offloads.ok()) return offloads.status();
  auto loads = create_planner(device, cache, config, Direction::load);
  if (!loads.ok()) return loads.status();
  auto offload_lane = create_lane(device, config, Direction::offload);
  if (!offload_lane.ok()) return offload_lane.status();
  auto load_lane = create_lane(device, config, Direction::load);
  if (!load_lane.ok()) return load_lane.status();
  auto engine = std::make_unique<EngineImpl>(
      device, config,
      EngineImpl::Parts{std::move(*tier), std::move(*offloads), std::move(*loads),
                        std::move(*offload_lane), std::move(*load_lane)});
  if (Status status = engine->open_disk(config); !status.ok()) return status;
  return std::unique_ptr<Engine>(std::move(engine));
}

}  // namespace

std::uint64_t engine_device_bytes(const EngineConfig& config) {
  const std::uint64_t place = Staging::bytes_of_place(stored_form(config), config.blocks_per_chunk);
  std::uint64_t places = 0;
  for (const Direction direction : {Direction::offload, Direction::load}) {
    if (stages(config, direction)) places += most_open(config);
  }
  return places * place;
}

Result<std::unique_ptr<Engine>> Engine::create(Device& device, Buffer& cache,
                                               const EngineConfig& config) {
  if (Status status = check_config(cache, config); !status.ok()) return status;
  try {
    return assemble(device, cache, config);
  } catch (const std::bad_alloc&) {
    return Status{Code::no_memory,
                  "There is no memory for the bookkeeping of so large a tier or cache."};
  }
}

EngineImpl::EngineImpl(Device& device, const EngineConfig& config, Parts parts)
    : device_(device),
      blocks_(config.kv.blocks),
      blocks_per_chunk_(config.blocks_per_chunk),
      layers_(config.kv.layers),
      layers_apart_(config.kv.layers_apart()),
      block_bytes_(stored_form(config).block_bytes()),
      copy_timeout_(config.copy_timeout),
      regions_per_block_(config.kv.regions_per_block()),
      region_bytes_(config.kv.region_bytes()),
      choice_(config.copy),
      integrity_(config.integrity),
      cache_is_summed_(sums_by_op(device, config)),
      tier_(std::move(parts.tier)),
      gate_(config.store, kNotedPerChunk * tier_.facts().chunks),
      planners_{std::move(parts.offload_planner), std::move(parts.load_planner)},
      ledger_(config.kv.blocks),
      transfers_(config.blocks_per_chunk),
      offload_lane_(std::move(parts.offload_lane)),
      load_lane_(std::move(parts.load_lane)),
      seen_in_(config.kv.blocks, 0) {
  load_lane_.check_landings([this](const LandedCopy& landed) { return compare(landed); });
  if (config.check_tokens) {
    tokens_.emplace(tier_.facts().chunks, config.kv.block_tokens * config.blocks_per_chunk);
  }
}

std::uint32_t EngineImpl::lookup(std::span<const ChunkKey> keys, const ChunkTokens& tokens) {
  if (load_lane_.given_up()) return 0;  // nothing can be loaded any more
  if (!check_tokens(keys, tokens).ok()) return 0;
  return count_hits(keys, tokens);
}

std::optional<Nanos> EngineImpl::estimate(Direction direction, std::uint64_t blocks) const {
  const auto at = static_cast<std::size_t>(direction);
  const auto hop = meters_[at].time_of(bytes_open_[at] + blocks * block_bytes_);
  if (direction != Direction::fetch) return hop;
  const auto load = estimate(Direction::load, blocks);
  return hop && load ? std::optional(*hop + *load) : std::nullopt;
}

Result<std::vector<Point>> EngineImpl::fences_for_read(std::span<const BlockId> blocks,
                                                       std::uint32_t layer) {
  if (Status status = check_usable(blocks); !status.ok()) return status;
  if (layer >= layers_) {
    return Status{Code::invalid, "Layer " + std::to_string(layer) + " must be one of the cache's " +
                                     std::to_string(layers_) + "."};
  }
  const std::uint32_t behind = layers_ - 1 - layer;
  std::vector<Point> points;
  CopyNumber seen = 0;  // neighbours come with one copy as a rule
  for (const BlockId block : blocks) {
    const CopyNumber load = ledger_.last_load(block, behind);
    if (load == seen) continue;
    seen = load;
    if (load == 0) continue;
    const Lane::State state = load_lane_.state(load);
    if (state == Lane::State::waiting) return still_waiting();
    if (state == Lane::State::failed) {
      return Status{Code::failed, "The last load into block " + std::to_string(block) +
                                      " failed: recompute what it should hold."};
    }
    add_point(points, load_lane_.point(load));
  }
  return points;
}

Result<std::vector<Point>> EngineImpl::fences_for_write(std::span<const BlockId> blocks) {
  if (Status status = check_usable(blocks); !status.ok()) return status;
  std::vector<Point> points;
  for (const BlockId block : blocks) {
    const CopyNumber offload = offload_lane_.last_kept(ledger_.last_offload(block));
    const CopyNumber load = load_lane_.last_kept(ledger_.last_load(block));
    if (offload_lane_.waits(offload) || load_lane_.waits(load)) return still_waiting();
    add_point(points, offload_lane_.point(offload));
    add_point(points, load_lane_.point(load));
  }
  return points;
}

Status EngineImpl::check_exist(std::span<const BlockId> blocks) const {
  for (const BlockId block : blocks) {
    if (block < blocks_) continue;
    return {Code::invalid, "Block " + std::to_string(block) + " must be one of the cache's " +
                               std::to_string(blocks_) + "."};
  }
  return {};
}

Status EngineImpl::check_usable(std::span<const BlockId> blocks) const {
  if (Status status = check_exist(blocks); !status.ok() || lost_blocks_.empty()) return status;
  for (const BlockId block : blocks) {
    if (!lost_blocks_[block]) continue;
    return {Code::lost, "A load that never ended may still write to block " +
                            std::to_string(block) + ": use another."};
  }
  return {};
}

}  // namespace kvroof
