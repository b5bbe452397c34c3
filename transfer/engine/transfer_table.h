// SPDX-License-Identifier: Apache-2.0
// The engine's open transfers, and the results of ended ones until they are taken.
#pragma once
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "transfer/engine/engine.h"
#include "transfer/lanes/block_ledger.h"

namespace kvroof {

struct OpenTransfer {
  TransferResult result;
  Direction direction = Direction::offload;
  std::uint32_t copies_open = 0;
  std::vector<BlockId> blocks;
  std::vector<SlotId> slots;  // one a chunk: the reference held; kNoSlot: none
  std::vector<Need> needs;    // of all its copies, each of which knows its range

  std::span<const BlockId> blocks_of(std::uint32_t chunk) const {
    const std::size_t per_chunk = blocks.size() / slots.size();
    return std::span(blocks).subspan(chunk * per_chunk, per_chunk);
  }
};

class TransferTable {
 public:
  std::uint32_t open(Direction direction, std::uint32_t chunks, std::span<const BlockId> blocks);
  OpenTransfer& operator[](std::uint32_t index) { return pool_[index]; }
  void close(std::uint32_t index);  // its result can be taken from now on

  bool is_open(TransferId id) const;
  std::optional<TransferResult> take(TransferId id);  // empty where it hasn't ended, or was taken
  std::vector<TransferResult> take_all();

 private:
  std::deque<OpenTransfer> pool_;  // stays where it is, and keeps its vectors' memory for the next
  std::vector<std::uint32_t> free_;  // of pool_
  std::vector<TransferResult> ended_;
  TransferId last_id_ = 0;
};

}  // namespace kvroof
