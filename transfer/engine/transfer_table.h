// SPDX-License-Identifier: Apache-2.0
// The engine's open transfers, and the results of ended ones until they are taken.
#pragma once
#include <algorithm>
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
  Nanos deadline = Nanos::max();
  std::vector<BlockId> blocks;
  std::uint32_t blocks_per_chunk = 1;
  std::uint32_t skip_blocks = 0;  // of the first chunk
  std::vector<SlotId> slots;      // one a chunk: the reference held; kNoSlot: none
  std::vector<Need> needs;        // of all its copies, each of which knows its range
  // Where it goes layer by layer: of each chunk, the copies that have not ended, and whether one
  // has failed. Otherwise empty: a chunk is one copy.
  struct Layers {
    std::uint32_t open = 0;
    bool failed = false;
  };
  std::vector<Layers> layers;

  // A copy of the chunk has ended: whether all of them have, and how.
  enum class ChunkEnd : std::uint8_t { not_yet, well, failed };
  ChunkEnd copy_ended(std::uint32_t chunk, bool well) {
    if (layers.empty()) return well ? ChunkEnd::well : ChunkEnd::failed;
    Layers& of_chunk = layers[chunk];
    of_chunk.failed |= !well;
    if (--of_chunk.open > 0) return ChunkEnd::not_yet;
    return of_chunk.failed ? ChunkEnd::failed : ChunkEnd::well;
  }

  // What is skipped of a chunk, and the device blocks of the rest.
  std::uint32_t skipped(std::uint32_t chunk) const { return chunk == 0 ? skip_blocks : 0; }
  std::span<const BlockId> blocks_of(std::uint32_t chunk) const {
    const std::size_t begin = chunk == 0 ? 0 : chunk * blocks_per_chunk - skip_blocks;
    const std::size_t count = blocks_per_chunk - skipped(chunk);
    return std::span(blocks).subspan(begin, std::min(count, blocks.size() - begin));
  }
};

class TransferTable {
 public:
  explicit TransferTable(std::uint32_t blocks_per_chunk) : blocks_per_chunk_(blocks_per_chunk) {}

  // Of `chunks` chunks, the first without its first `skip_blocks`.
  std::uint32_t open(Direction direction, std::uint32_t chunks, std::span<const BlockId> blocks,
                     std::uint32_t skip_blocks = 0);
  OpenTransfer& operator[](std::uint32_t index) { return pool_[index]; }
  void close(std::uint32_t index);  // its result can be taken from now on

  OpenTransfer* find(TransferId id);  // null where none of this id is open
  template <class Visit>
  void for_each_open(Visit visit) const {
    for (const OpenTransfer& transfer : pool_) {
      if (transfer.result.id != 0) visit(transfer);
    }
  }
  std::optional<TransferResult> take(TransferId id);  // empty where it hasn't ended, or was taken
  std::vector<TransferResult> take_all();

 private:
  std::uint32_t blocks_per_chunk_;
  std::deque<OpenTransfer> pool_;  // stays where it is, and keeps its vectors' memory for the next
  std::vector<std::uint32_t> free_;  // of pool_
  std::vector<TransferResult> ended_;
  TransferId last_id_ = 0;
};

}  // namespace kvroof
