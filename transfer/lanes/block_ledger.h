// SPDX-License-Identifier: Apache-2.0
// Who touched each device block last: compute, by the points that the engine's user noted, and the
// engine's own copies, by their number in their lane. From it come the fences of every copy.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "backends/api/queue.h"
#include "transfer/lanes/lane.h"
#include "transfer/lanes/planner.h"

namespace kvroof {

// What a copy must come after: a point, or, with no queue, a copy of the other lane by its number,
// which has no ticket while it waits. One of its own lane must have ended.
struct Need {
  Queue* queue = nullptr;
  std::uint64_t number = 0;  // a ticket; a CopyNumber
  bool same_lane = false;
  bool operator==(const Need&) const = default;
};

class BlockLedger {
 public:
  explicit BlockLedger(std::uint32_t blocks) : copies_(blocks) {}

  void note_write(std::span<const BlockId> blocks, Point by);
  void note_read(std::span<const BlockId> blocks, Point by);

  // Enters copy `number` of the offload lane as the last reader of `blocks`, and appends what it
  // must come after: each of their last writes, since any that failed left a block undefined.
  void begin_offload(std::span<const BlockId> blocks, CopyNumber number, std::vector<Need>& needs);

  // Enters copy `number` of the load lane as the last writer of `blocks`, and appends what it must
  // come after: their last read and write a queue (queues are in order), and their last offload.
  // Where the blocks are loaded layer by layer it is the last layer's, and each layer's is
  // `layer_stride` before the next one's; 0: they are loaded at once.
  void begin_load(std::span<const BlockId> blocks, CopyNumber number, std::uint32_t layer_stride,
                  std::vector<Need>& needs);

  CopyNumber last_offload(BlockId block) const { return copies_[block].offload; }
  CopyNumber last_load(BlockId block) const { return copies_[block].load; }
  // The copy that brings a layer and all before it; `behind`: how many layers come after it.
  CopyNumber last_load(BlockId block, std::uint32_t behind) const {
    return copies_[block].load - std::uint64_t{copies_[block].layer_stride} * behind;
  }
  void forget_load(BlockId block) {  // it ended, and is overwritten
    copies_[block].load = copies_[block].layer_stride = 0;
  }

 private:
  struct LastCopies {
    CopyNumber offload = 0, load = 0;
    std::uint32_t layer_stride = 0;
  };
  struct ComputeUse {
    Queue* queue;
    std::vector<Ticket> written, read;  // by block; 0: never
  };

  ComputeUse& use_of(Queue* queue);

  std::vector<LastCopies> copies_;
  std::vector<ComputeUse> compute_;  // one a queue that was ever named: mostly one in all
};

}  // namespace kvroof
