// SPDX-License-Identifier: Apache-2.0
// The engine's disk tier: what is reachable through it, and bringing it to the host tier.
#include <utility>

#include "transfer/engine/engine_impl.h"

namespace kvroof {

Status EngineImpl::open_disk(const EngineConfig& config) {
  if (!config.disk) return {};
  if (config.check_tokens) {
    return {Code::invalid,
            "A disk tier's files hold no tokens to check: leave out one of the two."};
  }
  DiskTierConfig disk = *config.disk;
  disk.chunk_bytes = tier_.facts().chunk_bytes;
  disk.backed = config.backed;
  auto hops = DiskHops::create(device_, tier_, disk, config.disk_depth);
  if (!hops) return hops.status();
  disk_ = std::move(*hops);
  return {};
}

DiskLanes EngineImpl::disk_lanes() const {
  if (!disk_) return {};
  return {disk_->read_facts(), disk_->write_facts(), disk_->counters().missed_writes};
}

std::uint32_t EngineImpl::reachable(std::span<const ChunkKey> keys) {
  if (load_lane_.given_up()) return 0;
  std::uint32_t count = 0;
  for (const ChunkKey& key : keys) {
    const SlotId slot = tier_.find(key);
    const bool here = slot != kNoSlot && tier_.visible(slot);
    if (!here && (!disk_ || !disk_->holds(key))) break;
    ++count;
  }
  return count;
}

Result<TransferId> EngineImpl::prefetch(std::span<const ChunkKey> keys) {
  if (!disk_) return Status{Code::unsupported, "This engine has no disk tier to prefetch from."};
  const std::uint32_t count = reachable(keys);
  const std::uint32_t index = transfers_.open(Direction::fetch, count, {});
  const TransferId id = transfers_[index].result.id;
  for (const ChunkKey& key : keys.first(count)) {
    const SlotId slot = tier_.find(key);
    if (slot != kNoSlot && tier_.visible(slot)) {
      ++transfers_[index].result.chunks_held;
      continue;
    }
    ++transfers_[index].copies_open;
    bytes_open_[static_cast<std::size_t>(Direction::fetch)] += tier_.facts().chunk_bytes;
    disk_->fetch(key, index);
  }
  end_if_done(index);
  return id;
}

// Reads that were asked for begin here, so that prefetch() itself never fails for want of room.
Status EngineImpl::poll_disk() {
  if (!disk_) return {};
  fetched_.clear();
  Status status = disk_->poll(fetched_);
  for (const FetchedChunk& fetched : fetched_) {
    OpenTransfer& transfer = transfers_[fetched.tag];
    const auto at = static_cast<std::size_t>(Direction::fetch);
    bytes_open_[at] -= tier_.facts().chunk_bytes;
    if (fetched.status.ok()) {
      const Interval& read = fetched.interval;
      meters_[at].landed(tier_.facts().chunk_bytes, read, read.begin, true);
      transfer.result.bytes += tier_.facts().chunk_bytes;
      ++counters_.chunks_fetched;
    } else {
      if (transfer.result.status.ok()) transfer.result.status = fetched.status;
      ++transfer.result.failed_chunks;
      ++counters_.chunks_failed;
    }
    --transfer.copies_open;
    end_if_done(fetched.tag);
  }
  return status;
}

}  // namespace kvroof
