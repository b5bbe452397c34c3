// SPDX-License-Identifier: Apache-2.0
// The asynchronous offload engine: copies chunks of KV between a device's paged cache and a host
// tier of pinned memory. One thread drives it; it names no vendor and reads the device's clock only.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "backends/api/device.h"
#include "kernels/model/kv_layout.h"
#include "transfer/chunk_key.h"

namespace kvroof {

using BlockId = std::uint32_t;
using TransferId = std::uint64_t;

struct EngineConfig {
  KvLayout kv;                            // of the device's cache
  std::uint32_t blocks_per_chunk = 16;
  std::uint64_t host_tier_bytes = 0;      // pinned; rounded down to whole chunks
  std::uint64_t lane_bytes_in_flight = 128ull << 20;  // at least two chunks are always allowed
  bool backed = true;                     // false: no contents (simulator with data off)
};

// How one offload or load ended. Chunks that failed are counted, never served.
struct TransferResult {
  TransferId id = 0;
  Status status;                      // the first failure, or ok
  std::uint32_t chunks = 0, failed_chunks = 0;
  std::uint32_t chunks_held = 0;      // offload: already in the tier (or on their way), not copied again
  std::uint32_t chunks_refused = 0;   // offload: the tier was full of chunks in use
  std::uint64_t bytes = 0;            // that landed
  std::uint64_t regions = 0;
  Interval interval;                  // first copy's begin to last copy's end, device clock
};

class Engine {
 public:
  // `cache` is the device's paged KV (kv.cache_bytes()); it outlives the engine.
  static Result<std::unique_ptr<Engine>> create(Device& device, Buffer& cache,
                                                const EngineConfig& config);
  virtual ~Engine() = default;

  // How many leading keys are in the tier and visible.
  virtual std::uint32_t lookup(std::span<const ChunkKey> keys) = 0;

  // Tells the engine who touches device blocks, so that it can order its copies behind them: an
  // offload waits for the last write of its blocks, a load for the last read and write.
  virtual void note_write(std::span<const BlockId> blocks, Point by) = 0;
  virtual void note_read(std::span<const BlockId> blocks, Point by) = 0;

  // Copies blocks to the tier, blocks_per_chunk of them a key. Returns at once.
  virtual Result<TransferId> offload(std::span<const ChunkKey> keys,
                                     std::span<const BlockId> blocks) = 0;

  // Copies chunks to device blocks; every key must be visible (`invalid` otherwise).
  virtual Result<TransferId> load(std::span<const ChunkKey> keys,
                                  std::span<const BlockId> blocks) = 0;

  // Submits what the lanes have room for and takes in what landed. Never blocks.
  virtual Status poll() = 0;

  // The oldest open ticket of each lane: when one of these completes, poll() makes progress. Empty
  // where nothing is open. For callers that wait for something of their own at the same time.
  virtual std::vector<Point> open_points() const = 0;

  // What ended since the last call, in order of ending; empty where nothing did.
  virtual std::vector<TransferResult> take_results() = 0;

  // Drives the engine until `id` has ended (its result is returned and taken), or the deadline.
  virtual Result<TransferResult> wait(TransferId id, Nanos deadline) = 0;

  // The points that a reader of `blocks` must fence on, once every copy into them is submitted;
  // empty optional while some are still waiting in a lane: poll and wait first.
  virtual std::optional<std::vector<Point>> fences_for_read(std::span<const BlockId> blocks) = 0;
};

}  // namespace kvroof
