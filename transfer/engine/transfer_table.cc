// SPDX-License-Identifier: Apache-2.0
#include "transfer/engine/transfer_table.h"

#include <algorithm>
#include <utility>

namespace kvroof {

std::uint32_t TransferTable::open(Direction direction, std::uint32_t chunks,
                                  std::span<const BlockId> blocks, std::uint32_t skip_blocks) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(pool_.size()));
    pool_.emplace_back();
  }
  const std::uint32_t index = free_.back();
  free_.pop_back();
  OpenTransfer& transfer = pool_[index];
  transfer.result = {};
  transfer.result.id = ++last_id_;
  transfer.result.chunks = chunks;
  transfer.direction = direction;
  transfer.copies_open = 0;
  transfer.deadline = Nanos::max();
  transfer.blocks.assign(blocks.begin(), blocks.end());
  transfer.blocks_per_chunk = blocks_per_chunk_;
  transfer.skip_blocks = skip_blocks;
  transfer.slots.assign(chunks, kNoSlot);
  transfer.needs.clear();
  transfer.layers.clear();
  return index;
}

void TransferTable::close(std::uint32_t index) {
  ended_.push_back(std::move(pool_[index].result));
  pool_[index].result.id = 0;
  free_.push_back(index);
}

OpenTransfer* TransferTable::find(TransferId id) {
  const auto at = std::find_if(pool_.begin(), pool_.end(), [&](const OpenTransfer& transfer) {
    return transfer.result.id == id;
  });
  return at == pool_.end() ? nullptr : &*at;
}

std::optional<TransferResult> TransferTable::take(TransferId id) {
  const auto at = std::find_if(ended_.begin(), ended_.end(),
                               [&](const TransferResult& result) { return result.id == id; });
  if (at == ended_.end()) return std::nullopt;
  TransferResult result = std::move(*at);
  ended_.erase(at);
  return result;
}

std::vector<TransferResult> TransferTable::take_all() { return std::exchange(ended_, {}); }

}  // namespace kvroof
