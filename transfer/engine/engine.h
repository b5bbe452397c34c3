// SPDX-License-Identifier: Apache-2.0
// The asynchronous offload engine: copies chunks of KV between a device's paged cache and a host
// tier of pinned memory. One thread drives it; it names no vendor and reads the device's clock
// only.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "backends/api/device.h"
#include "kernels/model/kv_layout.h"
#include "transfer/disk/disk_tier.h"
#include "transfer/integrity/integrity.h"
#include "transfer/keys/chunk_key.h"
#include "transfer/keys/prefix_hash.h"
#include "transfer/lanes/copy_choice.h"
#include "transfer/lanes/planner.h"
#include "transfer/tier/host_tier.h"
#include "transfer/tier/store_policy.h"

namespace kvroof {

using TransferId = std::uint64_t;

struct EngineConfig {
  KvLayout kv;  // of the device's cache
  std::uint32_t blocks_per_chunk = 16;
  std::uint64_t host_tier_bytes = 0;                  // pinned; rounded down to whole chunks
  std::uint64_t lane_bytes_in_flight = 128ull << 20;  // at least two chunks are always allowed
  Eviction eviction = Eviction::lru;                  // of the host tier
  StorePolicy store = StorePolicy::immediate;         // in the host tier
  // A copy, or a file on its way, that is open for longer never ends: its lane is given up, and all
  // that it holds fails.
  // Longer than any step of compute, which copies wait for. Zero: no bound.
  Nanos copy_timeout{};
  CopyChoice copy = CopyPath::dma;
  // The tiers hold chunks narrower than the cache does (fp8 or int8 of an f32 or bf16 one): they
  // are quantised before they are offloaded and dequantised once loaded, on the device, which takes
  // staged copies alone. Lossy: a load brings back what is near to what was offloaded.
  std::optional<DType> transfer_dtype{};
  bool backed = true;  // false: no contents (simulator with data off)
  // A hit has the tokens that it was stored with, not the key alone: lookup, offload and load are
  // given them. Takes host memory for the ids of every chunk in the tier.
  bool check_tokens = false;
  // Chunks that have a checksum: taken as they are offloaded, of the device's bytes, and compared
  // as they are loaded, of what the device then has (on devices that sum as they copy, of what was
  // copied to it). One that disagrees fails, and leaves the tier. Nobody is given fences on a load
  // that is compared before it has landed.
  Integrity integrity = Integrity::off;
  // A disk tier below the host tier; its chunk_bytes and `backed` are filled in. Not with
  // check_tokens: files hold no tokens.
  std::optional<DiskTierConfig> disk{};
  std::uint32_t disk_depth = 32;  // files on their way at once, in each direction
};

struct OffloadOptions {
  Offer offer = Offer::used;
  Nanos deadline = Nanos::max();  // see LoadOptions
  ChunkTokens tokens{};           // of the keys' chunks, where check_tokens
};

struct LoadOptions {
  // Of the first chunk, the blocks that are not wanted, since the cache has them already: fewer
  // than blocks_per_chunk.
  std::uint32_t skip_blocks = 0;
  // Copies that the device has not been handed by then are dropped, as `timeout`. Device clock.
  Nanos deadline = Nanos::max();
  ChunkTokens tokens{};  // of the keys' whole chunks, where check_tokens
  // Layer after layer of all chunks, rather than chunk after chunk of all layers, so that readers
  // of a layer need not wait for the next: see fences_for_read. `invalid` where one region holds
  // several layers, the copy is staged, or chunks have checksums.
  bool by_layer = false;
};

// How one offload or load ended. Chunks that failed are counted, never served.
struct TransferResult {
  TransferId id = 0;
  CopyPath path = CopyPath::dma;  // as chosen when it was asked for
  Status status;                  // the first failure, or ok
  std::uint32_t chunks = 0, failed_chunks = 0;
  std::uint32_t chunks_held = 0;      // offload: in the tier or on their way, not copied again
  std::uint32_t chunks_refused = 0;   // offload: the tier was full of chunks in use
  std::uint32_t chunks_unwanted = 0;  // offload: not stored now, by the store policy
  std::uint32_t chunks_collided = 0;  // offload: not stored, since other tokens have their key
  std::uint64_t bytes = 0;            // that landed, as they are stored
  std::uint64_t regions = 0;
  Nanos converting{};  // of ops that quantise or dequantise: the sum of their times
  Interval interval;   // first copy's begin to last copy's end, device clock
};

// Since the engine was created. Bytes a hop, to be reconciled with hits.
struct EngineCounters {
  std::uint64_t chunks_offloaded = 0, chunks_loaded = 0, chunks_failed = 0;
  std::uint64_t chunks_dropped = 0;  // of those failed: cancelled, or past their deadline
  std::uint64_t chunks_held = 0, chunks_refused = 0, chunks_unwanted = 0, chunks_evicted = 0;
  std::uint64_t chunks_collided = 0;     // where check_tokens: not stored, or not a hit
  std::uint64_t chunks_handed_over = 0;  // loaded, and so no longer in the tier (on_evict)
  std::uint64_t bytes_offloaded = 0, bytes_loaded = 0;
  std::uint64_t chunks_summed = 0;   // offloaded with a checksum
  std::uint64_t chunks_checked = 0;  // loads whose checksum was compared
  std::uint64_t chunks_corrupt = 0;  // of those: it was another
  std::uint64_t chunks_fetched = 0;  // from the disk tier; what failed there counts as failed
};

// How the disk tier's lanes move files, and what came too late for them.
struct DiskLanes {
  DiskFacts reads, writes;
  std::uint64_t missed_writes = 0;  // chunks that the host tier evicted before their turn
};

// Device memory that an engine takes beside the cache: places that staged copies pass.
std::uint64_t engine_device_bytes(const EngineConfig& config);

class Engine {
 public:
  // `cache` is the device's paged KV (kv.cache_bytes()); it outlives the engine. `invalid`: sizes
  // that don't fit; `no_memory`: the tier can't be had.
  static Result<std::unique_ptr<Engine>> create(Device& device, Buffer& cache,
                                                const EngineConfig& config);
  // Copies that wait are dropped, submitted ones are drained.
  virtual ~Engine() = default;

  // How many leading keys are in the tier and visible. Where check_tokens they have these tokens
  // too, and without tokens there is no hit.
  virtual std::uint32_t lookup(std::span<const ChunkKey> keys, const ChunkTokens& tokens = {}) = 0;

  // Tells the engine who touches device blocks, so that it can order its copies behind them: an
  // offload waits for the last writes of its blocks, a load for the last reads and writes. Both
  // wait for what was noted before the call. `by` completing well must mean that the blocks are
  // good: name the ticket that everything else of the step waits for. Writers fence on
  // fences_for_write first; a write noted while an offload of the block still waits in its lane
  // makes that offload fail, since its bytes are lost. Queues named here outlive the engine.
  virtual void note_write(std::span<const BlockId> blocks, Point by) = 0;
  virtual void note_read(std::span<const BlockId> blocks, Point by) = 0;

  // Copies blocks to the tier, blocks_per_chunk of them a key, as far as the store policy wants
  // them now. Returns at once. `lost`, here and of a load: the lane was given up, as copy_timeout
  // says. `invalid`, of both, where check_tokens and there are no tokens of each chunk.
  virtual Result<TransferId> offload(std::span<const ChunkKey> keys,
                                     std::span<const BlockId> blocks,
                                     const OffloadOptions& options = {}) = 0;

  // Copies chunks to device blocks; every key must be a hit (`invalid` otherwise). Of the first
  // chunk blocks may be skipped, and of the last those that `blocks` is too short for: a prefix
  // that is cached in part, or whose last tokens are computed anyway, moves no more than it needs.
  // Under on_evict each leaves the tier as its end lands, unless it is protected.
  virtual Result<TransferId> load(std::span<const ChunkKey> keys, std::span<const BlockId> blocks,
                                  const LoadOptions& options = {}) = 0;

  // How many leading keys are in the host tier or the disk tier below it: what prefetch() can make
  // loadable.
  virtual std::uint32_t reachable(std::span<const ChunkKey> keys) = 0;

  // Brings the leading keys that are reachable to the host tier, for a request that waits in its
  // queue; the result counts those that were there already as held. A file that is gone, torn or
  // not the chunk's fails it and is a miss from then on. `unsupported`: there is no disk tier.
  virtual Result<TransferId> prefetch(std::span<const ChunkKey> keys) = 0;

  // Drops what the device has not been handed of a transfer: those copies fail as `aborted`. What
  // it has been handed always runs, and the result comes when that has ended. `invalid` where no
  // transfer of this id is open.
  virtual Status cancel(TransferId id) = 0;

  // How long a load (an offload) of so many blocks would take if it were asked for now, behind all
  // that was asked for before it; by the rate of the last copies. Of a fetch: until blocks that
  // only the disk tier has are in the cache, read first and loaded then, since a load starts once
  // its chunks are in the host tier. Empty where of any of these hops none has landed yet.
  virtual std::optional<Nanos> estimate(Direction direction, std::uint64_t blocks) const = 0;

  // A protected chunk is never evicted, nor handed over. `invalid`: the chunk isn't visible;
  // `no_memory`: as many as may be are protected already.
  virtual Status protect(const ChunkKey& key, bool on) = 0;

  // Submits what the lanes have room for and takes in what landed. Never blocks.
  virtual Status poll() = 0;

  // When poll() will end something that has not ended by itself, by a deadline or copy_timeout;
  // Nanos::max(): never. Who waits for open_points() waits no longer than this.
  virtual Nanos next_expiry() const = 0;

  // The oldest open ticket of each lane: when one of these completes, poll() makes progress. Empty
  // where nothing is open. For callers that wait for something of their own at the same time.
  virtual std::vector<Point> open_points() const = 0;

  // What ended since the last call, in order of ending; empty where nothing did.
  virtual std::vector<TransferResult> take_results() = 0;

  // Drives the engine until `id` has ended (its result is returned and taken), or the deadline.
  virtual Result<TransferResult> wait(TransferId id, Nanos deadline) = 0;

  // The points that a reader of `blocks` must fence on: the loads into them that are open. `busy`
  // while one still waits in its lane: poll or wait, then ask again. `failed` where the last load
  // into a block failed and nothing was written there since: recompute it. `lost`, here and below,
  // where a load that was given up may still write to a block: never use it again.
  virtual Result<std::vector<Point>> fences_for_read(std::span<const BlockId> blocks) = 0;

  // As above, of a reader of one layer alone (of kv.layers), which need not wait for those behind
  // it where the blocks are loaded by layer.
  virtual Result<std::vector<Point>> fences_for_read(std::span<const BlockId> blocks,
                                                     std::uint32_t layer) = 0;

  // The points that a writer of `blocks` must fence on: the offloads and loads of them that are
  // open. `busy` as above.
  virtual Result<std::vector<Point>> fences_for_write(std::span<const BlockId> blocks) = 0;

  virtual const EngineCounters& counters() const = 0;
  virtual const HostTierFacts& tier() const = 0;  // as obtained, not as asked for
  virtual const DiskTier* disk() const = 0;       // null: there is none
  virtual DiskLanes disk_lanes() const = 0;       // all empty: there is none
  virtual HostTierUse tier_use() const = 0;       // goes through all slots
};

}  // namespace kvroof
