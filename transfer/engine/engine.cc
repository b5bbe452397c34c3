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
  return {};
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

Result<std::unique_ptr<Engine>> assemble(Device& device, Buffer& cache,
                                         const EngineConfig& config) {
  const std::uint64_t chunk_bytes = config.kv.block_bytes() * config.blocks_per_chunk;
  auto tier = HostTier::create(device, {.chunk_bytes = chunk_bytes,
                                        .bytes = config.host_tier_bytes,
                                        .backed = config.backed,
                                        .eviction = config.eviction});
  if (!tier.ok()) return tier.status();
  // Loads come first: a request waits for them.
  auto offloads = Lane::create(device, QueueKind::copy_out, Priority::low, config.method,
                               chunk_bytes, config.lane_bytes_in_flight);
  if (!offloads.ok()) return offloads.status();
  auto loads = Lane::create(device, QueueKind::copy_in, Priority::high, config.method, chunk_bytes,
                            config.lane_bytes_in_flight);
  if (!loads.ok()) return loads.status();
  return std::unique_ptr<Engine>(std::make_unique<EngineImpl>(
      device, cache, config, std::move(*tier), std::move(*offloads), std::move(*loads)));
}

}  // namespace

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

EngineImpl::EngineImpl(Device& device, Buffer& cache, const EngineConfig& config, HostTier tier,
                       Lane offload_lane, Lane load_lane)
    : device_(device),
      blocks_(config.kv.blocks),
      blocks_per_chunk_(config.blocks_per_chunk),
      block_bytes_(config.kv.block_bytes()),
      copy_timeout_(config.copy_timeout),
      planner_(config.kv, cache),
      tier_(std::move(tier)),
      gate_(config.store, kNotedPerChunk * tier_.facts().chunks),
      ledger_(config.kv.blocks),
      transfers_(config.blocks_per_chunk),
      offload_lane_(std::move(offload_lane)),
      load_lane_(std::move(load_lane)),
      seen_in_(config.kv.blocks, 0) {
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
  return meters_[at].time_of((blocks_open_[at] + blocks) * block_bytes_);
}

Result<std::vector<Point>> EngineImpl::fences_for_read(std::span<const BlockId> blocks) {
  if (Status status = check_usable(blocks); !status.ok()) return status;
  std::vector<Point> points;
  CopyNumber seen = 0;  // neighbours come with one copy as a rule
  for (const BlockId block : blocks) {
    const CopyNumber load = ledger_.last_load(block);
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
    const CopyNumber offload = ledger_.last_offload(block), load = ledger_.last_load(block);
    if (offload_lane_.state(offload) == Lane::State::waiting) return still_waiting();
    if (load_lane_.state(load) == Lane::State::waiting) return still_waiting();
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
