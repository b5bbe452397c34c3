// SPDX-License-Identifier: Apache-2.0
// Engine's one implementation: it ties tier, lanes, ledger and planner together. Include engine.h.
#pragma once
#include <span>
#include <vector>

#include "transfer/engine/engine.h"
#include "transfer/engine/transfer_table.h"
#include "transfer/lanes/block_ledger.h"
#include "transfer/lanes/chain_planner.h"
#include "transfer/lanes/lane.h"
#include "transfer/tier/host_tier.h"

namespace kvroof {

class EngineImpl final : public Engine {
 public:
  struct Parts {
    HostTier tier;
    ChainPlanner offload_planner, load_planner;
    Lane offload_lane, load_lane;
  };

  EngineImpl(Device& device, const EngineConfig& config, Parts parts);
  ~EngineImpl() override;

  std::uint32_t lookup(std::span<const ChunkKey> keys) override;
  void note_write(std::span<const BlockId> blocks, Point by) override;
  void note_read(std::span<const BlockId> blocks, Point by) override;
  Result<TransferId> offload(std::span<const ChunkKey> keys,
                             std::span<const BlockId> blocks) override;
  Result<TransferId> load(std::span<const ChunkKey> keys, std::span<const BlockId> blocks) override;
  Status poll() override;
  std::vector<Point> open_points() const override;
  std::vector<TransferResult> take_results() override;
  Result<TransferResult> wait(TransferId id, Nanos deadline) override;
  Result<std::vector<Point>> fences_for_read(std::span<const BlockId> blocks) override;
  Result<std::vector<Point>> fences_for_write(std::span<const BlockId> blocks) override;
  const EngineCounters& counters() const override { return counters_; }
  const HostTierFacts& tier() const override { return tier_.facts(); }

 private:
  // Taking in requests.
  std::uint32_t open_transfer(Direction direction, std::uint32_t chunks,
                              std::span<const BlockId> blocks);
  Status check(std::span<const ChunkKey> keys, std::span<const BlockId> blocks) const;
  Status check_exist(std::span<const BlockId> blocks) const;
  Status check_distinct(std::span<const BlockId> blocks);
  Status check_visible(std::span<const ChunkKey> keys) const;
  void offload_chunk(std::uint32_t index, std::uint32_t chunk, const ChunkKey& key);
  void load_chunk(std::uint32_t index, std::uint32_t chunk, const ChunkKey& key);
  void spoil_waiting_offloads(BlockId block);

  // Driving the lanes.
  void feed_lanes();
  bool feed(Lane& lane, const Lane& other);
  enum class Readiness { ready, waits, hopeless };
  Readiness gather_fences(const ChunkCopy& copy, const Lane& other);
  bool submit(Lane& lane, const ChunkCopy& copy);
  Status reap(Lane& lane);
  void take_in(const LandedCopy& landed);
  void end_if_done(std::uint32_t index);

  Device& device_;
  std::uint32_t blocks_, blocks_per_chunk_;
  std::uint64_t chunk_bytes_;
  std::uint64_t region_bytes_;
  std::uint32_t regions_per_block_;
  CopyChoice choice_;
  HostTier tier_;                                // before the lanes: it outlives their draining
  ChainPlanner offload_planner_, load_planner_;  // so do the places that staged copies pass
  BlockLedger ledger_;
  TransferTable transfers_;
  Lane offload_lane_, load_lane_;
  EngineCounters counters_;

  std::vector<std::uint32_t> seen_in_;  // by block: the last load that named it
  std::uint32_t load_count_ = 0;
  std::vector<Point> fences_;  // scratch, kept for their memory
  std::vector<LandedCopy> landed_;
};

}  // namespace kvroof
