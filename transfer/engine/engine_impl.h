// SPDX-License-Identifier: Apache-2.0
// Engine's one implementation: it ties tier, lanes, ledger and planner together. Include engine.h.
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "transfer/disk/disk_hops.h"
#include "transfer/engine/engine.h"
#include "transfer/engine/transfer_table.h"
#include "transfer/lanes/block_ledger.h"
#include "transfer/lanes/chain_planner.h"
#include "transfer/lanes/copy_meter.h"
#include "transfer/lanes/lane.h"
#include "transfer/tier/host_tier.h"
#include "transfer/tier/token_store.h"

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

  std::uint32_t lookup(std::span<const ChunkKey> keys, const ChunkTokens& tokens) override;
  void note_write(std::span<const BlockId> blocks, Point by) override;
  void note_read(std::span<const BlockId> blocks, Point by) override;
  Result<TransferId> offload(std::span<const ChunkKey> keys, std::span<const BlockId> blocks,
                             const OffloadOptions& options) override;
  Result<TransferId> load(std::span<const ChunkKey> keys, std::span<const BlockId> blocks,
                          const LoadOptions& options) override;
  std::uint32_t reachable(std::span<const ChunkKey> keys) override;
  Result<TransferId> prefetch(std::span<const ChunkKey> keys) override;
  Status cancel(TransferId id) override;
  std::optional<Nanos> estimate(Direction direction, std::uint64_t blocks) const override;
  Status protect(const ChunkKey& key, bool on) override { return tier_.protect(key, on); }
  Status poll() override;
  Nanos next_expiry() const override;
  std::vector<Point> open_points() const override;
  std::vector<TransferResult> take_results() override;
  Result<TransferResult> wait(TransferId id, Nanos deadline) override;
  Result<std::vector<Point>> fences_for_read(std::span<const BlockId> blocks) override {
    return fences_for_read(blocks, layers_ - 1);
  }
  Result<std::vector<Point>> fences_for_read(std::span<const BlockId> blocks,
                                             std::uint32_t layer) override;
  Result<std::vector<Point>> fences_for_write(std::span<const BlockId> blocks) override;
  const EngineCounters& counters() const override { return counters_; }
  const HostTierFacts& tier() const override { return tier_.facts(); }
  const DiskTier* disk() const override { return disk_ ? &disk_->disk() : nullptr; }
  DiskLanes disk_lanes() const override;
  Status open_disk(const EngineConfig& config);  // before anything else
  HostTierUse tier_use() const override { return tier_.use(); }

 private:
  // Taking in requests.
  Status check(std::span<const ChunkKey> keys, std::span<const BlockId> blocks,
               std::uint32_t skip_blocks) const;
  Status check_exist(std::span<const BlockId> blocks) const;
  Status check_usable(std::span<const BlockId> blocks) const;
  Status check_distinct(std::span<const BlockId> blocks);
  Status check_tokens(std::span<const ChunkKey> keys, const ChunkTokens& tokens) const;
  std::uint32_t count_hits(std::span<const ChunkKey> keys, const ChunkTokens& tokens);
  Status check_hits(std::span<const ChunkKey> keys, const ChunkTokens& tokens);
  void offload_chunk(std::uint32_t index, std::uint32_t chunk, const ChunkKey& key,
                     const OffloadOptions& options);
  void load_chunk(std::uint32_t index, std::uint32_t chunk, const ChunkKey& key);
  void add_open_loads(OpenTransfer& transfer, std::span<const BlockId> blocks);
  Status check_by_layer(CopyPath path) const;
  void push_layers(std::uint32_t index);
  void spoil_waiting_offloads(BlockId block);
  CopyPath choose_path(Direction direction, std::size_t blocks) const;
  void set_deadline(OpenTransfer& transfer, Nanos deadline);

  // Driving the lanes.
  void feed_lanes();
  bool feed(Lane& lane, const Lane& other);
  enum class Readiness { ready, waits, hopeless };
  Readiness gather_fences(const Lane& lane, const ChunkCopy& copy, const Lane& other);
  Readiness follow_layer(const Lane& lane, const ChunkCopy& copy);
  bool submit(Lane& lane, const ChunkCopy& copy);
  Status reap(Lane& lane);
  void take_in(const LandedCopy& landed);
  std::uint64_t bytes_of(const ChunkCopy& copy);
  void take_in_bytes(const LandedCopy& landed, std::uint64_t bytes);
  void take_in_failure(const LandedCopy& landed);
  void end_chunk_well(const LandedCopy& landed);
  void keep_sum(const LandedCopy& landed);
  Status compare(const LandedCopy& landed);
  void hand_over(const ChunkCopy& copy);
  Status poll_disk();
  void end_if_done(std::uint32_t index);

  // Ending what goes on for too long.
  using WhichCopies = std::function<bool(const ChunkCopy&)>;
  void drop_waiting(Lane& lane, const WhichCopies& which, const Status& why);
  void drop_late(Nanos now);
  void expire();
  void give_up_stalled(Nanos now);
  void give_up(Lane& lane);
  Status wait_for_progress(Nanos deadline);
  ChainPlanner& planner_of(Direction direction) {
    return planners_[static_cast<std::size_t>(direction)];
  }
  Lane& lane_of(Direction direction) {
    return direction == Direction::offload ? offload_lane_ : load_lane_;
  }

  Device& device_;
  std::uint32_t blocks_, blocks_per_chunk_, layers_;
  bool layers_apart_;
  std::uint64_t block_bytes_;  // in the tier
  Nanos copy_timeout_;
  std::uint32_t regions_per_block_;
  std::uint64_t region_bytes_;
  CopyChoice choice_;
  Integrity integrity_;
  bool cache_is_summed_;  // by ops, which must not meet the next load into the same blocks
  HostTier tier_;         // before the lanes: it outlives their draining
  StoreGate gate_;
  ChainPlanner planners_[2];          // by direction; so do the places that copies have
  std::optional<TokenStore> tokens_;  // where they are checked
  BlockLedger ledger_;
  TransferTable transfers_;
  Lane offload_lane_, load_lane_;
  std::unique_ptr<DiskHops> disk_;  // null: no disk tier
  EngineCounters counters_;

  // By direction: what is asked for and has not ended, and how fast it goes.
  std::uint64_t bytes_open_[3] = {0, 0, 0};
  CopyMeter meters_[3];
  Nanos earliest_deadline_ = Nanos::max();  // of the open transfers, or earlier
  std::vector<bool> lost_blocks_;           // empty: none is; see fences_for_write

  std::vector<std::uint32_t> seen_in_;  // by block: the last load that named it
  std::uint32_t load_count_ = 0;
  std::vector<Point> fences_;  // scratch, kept for their memory
  std::vector<SlotId> slots_;
  std::vector<LandedCopy> landed_;
  std::vector<ChunkCopy> dropped_;
  std::vector<FetchedChunk> fetched_;
};

}  // namespace kvroof
