// SPDX-License-Identifier: Apache-2.0
// What the engine's tests share: a small cache and an engine on a simulated device, where bytes
// move when a ticket lands and not before, and queues that play compute.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "backends/faults/faulty_device.h"
#include "transfer/engine/engine.h"

namespace kvroof {

using Blocks = std::vector<BlockId>;

// How rigs copy that don't say: test_staged_rig.cc, linked into a program, makes them stage.
inline CopyPath rig_path = CopyPath::dma;

// And whether chunks have checksums: test_summed_rig.cc makes all of them have some.
inline Integrity rig_integrity = Integrity::off;

struct RigConfig {
  Layout layout = Layout::block_first;
  std::uint32_t tier_chunks = 8;
  std::uint32_t lane_chunks = 16;  // in flight
  Nanos copy_timeout{};
  std::optional<DiskTierConfig> disk{};
  Eviction eviction = Eviction::lru;
  StorePolicy store = StorePolicy::immediate;
  CopyChoice copy = rig_path;
  bool check_tokens = false;
  Integrity integrity = rig_integrity;
  std::optional<DType> transfer_dtype{};  // the cache is f32
};

class Rig {
 public:
  static constexpr std::uint32_t kBlocks = 32, kBlocksPerChunk = 2;

  explicit Rig(const RigConfig& config = {}, Faults faults = {});

  static ChunkKey key(std::uint64_t n) { return {n * 0x9e3779b97f4a7c15, n}; }

  // Compute: sets every byte of the blocks, in order; the point of the last of it.
  Point fill(std::span<const BlockId> blocks, std::uint8_t value,
             std::span<const Point> fences = {});
  Point hold(Gate gate);  // compute waits for the gate

  // Reads the blocks as they are once `fences` have completed, one after the other, into seen().
  Point read(std::span<const BlockId> blocks, std::span<const Point> fences = {});
  std::span<const std::byte> seen();

  // Writes the whole cache at once, or reads it: for patterns finer than a block.
  void write_cache(std::span<const std::byte> bytes);
  std::vector<std::byte> read_cache();

  // Every byte of the blocks is `value`, now.
  bool all_are(std::span<const BlockId> blocks, std::uint8_t value);

  void wait(Point point);  // it must complete

  // Drives the engine until nothing more can happen: it is done, or gates are closed.
  void run();

  // Fills blocks and offloads them under key(n): it must work.
  void store(std::uint64_t n, std::span<const BlockId> blocks, std::uint8_t value);

  // Loads key(n) into blocks; false where it isn't there or fails.
  bool fetch(std::uint64_t n, std::span<const BlockId> blocks);

  bool holds(std::uint64_t n);  // lookup

  FaultyDevice device;
  KvLayout kv;
  std::unique_ptr<Buffer> cache, seen_, staging_;
  std::unique_ptr<Queue> compute, reader, writer;
  std::unique_ptr<Engine> engine;

 private:
  std::unique_ptr<Buffer> allocate(MemoryKind kind, std::uint64_t bytes);
};

std::vector<ChunkKey> keys(std::uint64_t first, std::uint64_t count);  // Rig::key of each
Blocks range(BlockId first, BlockId count);

// Waits for a transfer that must have been accepted.
TransferResult finish(Rig& rig, Result<TransferId> id);

}  // namespace kvroof
