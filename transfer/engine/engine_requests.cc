// SPDX-License-Identifier: Apache-2.0
// Taking in requests: who touches blocks, offloads, loads, cancelling.
#include <algorithm>
#include <cassert>
#include <string>
#include <utility>

#include "transfer/engine/engine_impl.h"

namespace kvroof {
namespace {

Status part_of_a_chunk() {
  return {Code::invalid,
          "An offload needs whole chunks: leave out the blocks behind the last one."};
}

Status lane_lost() {
  return {Code::lost, "An earlier copy never ended, and this direction was given up: recompute."};
}

}  // namespace

void EngineImpl::note_write(std::span<const BlockId> blocks, Point by) {
  assert(check_exist(blocks).ok());
  for (const BlockId block : blocks) {
    const CopyNumber offload = offload_lane_.last_kept(ledger_.last_offload(block));
    const CopyNumber load = ledger_.last_load(block);
    if (offload_lane_.state(offload) == Lane::State::waiting) spoil_waiting_offloads(block);
    // A load that failed must not spoil what is written now. An open one must have been fenced on.
    if (load_lane_.ended(load)) ledger_.forget_load(block);
  }
  ledger_.note_write(blocks, by);
}

void EngineImpl::note_read(std::span<const BlockId> blocks, Point by) {
  assert(check_exist(blocks).ok());
  ledger_.note_read(blocks, by);
}

void EngineImpl::spoil_waiting_offloads(BlockId block) {
  const auto reads_it = [&](const ChunkCopy& copy) {
    const auto blocks = transfers_[copy.transfer].blocks_of(copy.chunk);
    return std::find(blocks.begin(), blocks.end(), block) != blocks.end();
  };
  drop_waiting(offload_lane_, reads_it,
               {Code::aborted, "A block was overwritten before its copy to the tier began."});
}

CopyPath EngineImpl::choose_path(Direction direction, std::size_t blocks) const {
  return choice_.choose(direction, region_bytes_, std::uint64_t{regions_per_block_} * blocks);
}

void EngineImpl::set_deadline(OpenTransfer& transfer, Nanos deadline) {
  transfer.deadline = deadline;
  earliest_deadline_ = std::min(earliest_deadline_, deadline);
}

Result<TransferId> EngineImpl::offload(std::span<const ChunkKey> keys,
                                       std::span<const BlockId> blocks,
                                       const OffloadOptions& options) {
  if (Status status = check(keys, blocks, 0); !status.ok()) return status;
  if (blocks.size() % blocks_per_chunk_ != 0) return part_of_a_chunk();
  if (Status status = check_tokens(keys, options.tokens); !status.ok()) return status;
  if (offload_lane_.given_up()) return lane_lost();
  const auto chunks = static_cast<std::uint32_t>(keys.size());
  const std::uint32_t index = transfers_.open(Direction::offload, chunks, blocks);
  const TransferId id = transfers_[index].result.id;
  transfers_[index].result.path = choose_path(Direction::offload, blocks.size());
  set_deadline(transfers_[index], options.deadline);
  for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) {
    offload_chunk(index, chunk, keys[chunk], options);
  }
  end_if_done(index);
  feed_lanes();
  return id;
}

void EngineImpl::offload_chunk(std::uint32_t index, std::uint32_t chunk, const ChunkKey& key,
                               const OffloadOptions& options) {
  OpenTransfer& transfer = transfers_[index];
  if (const SlotId held = tier_.find(key); held != kNoSlot) {
    if (tokens_ && !tokens_->matches(held, options.tokens.of(chunk, 1))) {
      ++transfer.result.chunks_collided;
      return;
    }
    ++transfer.result.chunks_held;
    if (!tier_.visible(held)) return;  // on its way: whoever copies it holds the reference
    tier_.acquire(held);
    transfer.slots[chunk] = held;
    return;
  }
  if (!gate_.wants(key, options.offer)) {
    ++transfer.result.chunks_unwanted;
    return;
  }
  const SlotId slot = transfer.slots[chunk] = tier_.reserve(key);
  if (slot == kNoSlot) {
    ++transfer.result.chunks_refused;
    return;
  }
  if (tokens_) tokens_->store(slot, options.tokens.of(chunk, 1));
  ++transfer.copies_open;
  bytes_open_[static_cast<std::size_t>(transfer.direction)] +=
      transfer.blocks_of(chunk).size() * block_bytes_;
  ChunkCopy copy{.transfer = index, .chunk = chunk, .slot = slot, .path = transfer.result.path};
  copy.summed = has_sum(integrity_, key);
  copy.first_need = static_cast<std::uint32_t>(transfer.needs.size());
  ledger_.begin_offload(transfer.blocks_of(chunk), offload_lane_.next_number(), transfer.needs);
  copy.end_need = static_cast<std::uint32_t>(transfer.needs.size());
  offload_lane_.push(copy);
}

Result<TransferId> EngineImpl::load(std::span<const ChunkKey> keys, std::span<const BlockId> blocks,
                                    const LoadOptions& options) {
  if (Status status = check(keys, blocks, options.skip_blocks); !status.ok()) return status;
  if (Status status = check_tokens(keys, options.tokens); !status.ok()) return status;
  const CopyPath path = choose_path(Direction::load, blocks.size());
  if (Status status = check_by_layer(path); options.by_layer && !status.ok()) return status;
  if (load_lane_.given_up()) return lane_lost();
  if (Status status = check_distinct(blocks); !status.ok()) return status;
  if (Status status = check_hits(keys, options.tokens); !status.ok()) return status;
  const auto chunks = static_cast<std::uint32_t>(keys.size());
  const std::uint32_t index = transfers_.open(Direction::load, chunks, blocks, options.skip_blocks);
  const TransferId id = transfers_[index].result.id;
  transfers_[index].result.path = path;
  if (options.by_layer) transfers_[index].layers.assign(chunks, {.open = layers_});
  set_deadline(transfers_[index], options.deadline);
  for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) load_chunk(index, chunk, keys[chunk]);
  if (options.by_layer) push_layers(index);
  end_if_done(index);
  feed_lanes();
  return id;
}

void EngineImpl::load_chunk(std::uint32_t index, std::uint32_t chunk, const ChunkKey& key) {
  OpenTransfer& transfer = transfers_[index];
  const SlotId slot = transfer.slots[chunk] = tier_.find(key);
  tier_.acquire(slot);
  bytes_open_[static_cast<std::size_t>(transfer.direction)] +=
      transfer.blocks_of(chunk).size() * block_bytes_;
  if (!transfer.layers.empty()) return;
  ++transfer.copies_open;
  ChunkCopy copy{.transfer = index, .chunk = chunk, .slot = slot, .path = transfer.result.path};
  copy.summed = tier_.sum(slot) != 0;
  copy.first_need = static_cast<std::uint32_t>(transfer.needs.size());
  if (cache_is_summed_) add_open_loads(transfer, transfer.blocks_of(chunk));
  ledger_.begin_load(transfer.blocks_of(chunk), load_lane_.next_number(), 0, transfer.needs);
  copy.end_need = static_cast<std::uint32_t>(transfer.needs.size());
  load_lane_.push(copy);
}

// A load into blocks whose bytes are still being summed would be in the sum.
void EngineImpl::add_open_loads(OpenTransfer& transfer, std::span<const BlockId> blocks) {
  for (const BlockId block : blocks) {
    const CopyNumber load = ledger_.last_load(block);
    const Need need{.queue = nullptr, .number = load, .same_lane = true};
    const bool known = !transfer.needs.empty() && transfer.needs.back() == need;
    if (!load_lane_.ended(load) && !known) transfer.needs.push_back(need);
  }
}

Status EngineImpl::check_by_layer(CopyPath path) const {
  if (!layers_apart_) {
    return {Code::invalid, "A region of block_first holds all layers of a block: load it whole."};
  }
  if (path == CopyPath::staged) {
    return {Code::invalid, "A staged copy moves whole chunks: load by layer with another method."};
  }
  if (integrity_ != Integrity::off) {
    return {Code::invalid, "A checksum is of a whole chunk: load by layer without checksums."};
  }
  return {};
}

// Every layer's copy has its chunk's needs, since the one before it may have failed without having
// waited for them.
void EngineImpl::push_layers(std::uint32_t index) {
  OpenTransfer& transfer = transfers_[index];
  const std::uint32_t chunks = transfer.result.chunks;
  const CopyNumber first = load_lane_.next_number();
  std::vector<ChunkCopy> copies(chunks);
  for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) {
    ChunkCopy& copy =
        copies[chunk] = {.transfer = index, .chunk = chunk, .slot = transfer.slots[chunk]};
    copy.path = transfer.result.path;
    const CopyNumber last = first + std::uint64_t{layers_ - 1} * chunks + chunk;
    copy.first_need = static_cast<std::uint32_t>(transfer.needs.size());
    ledger_.begin_load(transfer.blocks_of(chunk), last, chunks, transfer.needs);
    copy.end_need = static_cast<std::uint32_t>(transfer.needs.size());
  }
  for (std::uint32_t layer = 0; layer < layers_; ++layer) {
    for (ChunkCopy& copy : copies) {
      copy.layer = layer;
      load_lane_.push(copy);
    }
  }
  transfer.copies_open += layers_ * chunks;
}

Status EngineImpl::check(std::span<const ChunkKey> keys, std::span<const BlockId> blocks,
                         std::uint32_t skip_blocks) const {
  const std::uint64_t end = blocks.size() + skip_blocks;
  const std::uint64_t chunks = (end + blocks_per_chunk_ - 1) / blocks_per_chunk_;
  if (chunks != keys.size() || (skip_blocks > 0 && skip_blocks >= blocks_per_chunk_)) {
    return {Code::invalid, std::to_string(keys.size()) + " chunks of " +
                               std::to_string(blocks_per_chunk_) + " blocks cannot be " +
                               std::to_string(blocks.size()) + " blocks behind " +
                               std::to_string(skip_blocks) + " that are skipped."};
  }
  return check_exist(blocks);
}

Status EngineImpl::check_distinct(std::span<const BlockId> blocks) {
  if (++load_count_ == 0) {  // wrapped: old marks would look new
    std::fill(seen_in_.begin(), seen_in_.end(), 0);
    load_count_ = 1;
  }
  for (const BlockId block : blocks) {
    if (std::exchange(seen_in_[block], load_count_) != load_count_) continue;
    return {Code::invalid, "A load must name each block once, but names block " +
                               std::to_string(block) + " twice."};
  }
  return {};
}

Status EngineImpl::check_tokens(std::span<const ChunkKey> keys, const ChunkTokens& tokens) const {
  if (!tokens_ || tokens_->fits(tokens, keys.size())) return {};
  return {Code::invalid, "An engine that checks tokens must be given those of each of the " +
                             std::to_string(keys.size()) + " chunks, with their prefix hashes."};
}

std::uint32_t EngineImpl::count_hits(std::span<const ChunkKey> keys, const ChunkTokens& tokens) {
  if (!tokens_) return tier_.lookup(keys);
  slots_.resize(keys.size());
  const std::uint32_t visible = tier_.lookup(keys, slots_);
  const std::uint32_t hits = tokens_->matching(std::span(slots_).first(visible), tokens);
  if (hits < visible) ++counters_.chunks_collided;
  return hits;
}

Status EngineImpl::check_hits(std::span<const ChunkKey> keys, const ChunkTokens& tokens) {
  const std::uint32_t hits = count_hits(keys, tokens);
  if (hits == keys.size()) return {};
  return {Code::invalid, "Chunk " + std::to_string(hits) +
                             " of the load is not in the tier: lookup says how many are."};
}

Status EngineImpl::cancel(TransferId id) {
  const OpenTransfer* transfer = transfers_.find(id);
  if (transfer == nullptr) return {Code::invalid, "No transfer with this id is open."};
  if (transfer->direction == Direction::fetch) return {};  // reads end by themselves
  const auto is_of_it = [&](const ChunkCopy& copy) {
    return &transfers_[copy.transfer] == transfer;
  };
  drop_waiting(lane_of(transfer->direction), is_of_it,
               {Code::aborted, "It was cancelled before the device was handed the copy."});
  return {};
}

}  // namespace kvroof
