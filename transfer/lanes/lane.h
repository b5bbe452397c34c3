// SPDX-License-Identifier: Apache-2.0
// One direction of copying: chunk copies wait in order, are submitted as the queue and the bound on
// bytes in flight allow, and are handed back in order with their own status once they landed.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "backends/api/device.h"
#include "transfer/lanes/ring.h"
#include "transfer/tier/slot_id.h"

namespace kvroof {

// A lane numbers its copies 1, 2, 3... as they are pushed; 0 is "none".
using CopyNumber = std::uint64_t;

struct ChunkCopy {
  std::uint32_t transfer = 0;  // the engine's open transfer, and which of its chunks
  std::uint32_t chunk = 0;
  SlotId slot = kNoSlot;
  std::uint32_t first_need = 0, end_need = 0;  // what it must come after, in the transfer's needs
  bool dropped = false;  // it ended while it waited, and only its number is left
};

struct LandedCopy {
  ChunkCopy copy;
  CopyNumber number = 0;
  Status status;
  std::uint64_t regions = 0;  // submitted
  Nanos submitted{};
  Interval interval;  // device clock; from submission to reaping where it has no timestamps
  bool may_still_land = false;  // given up while it was open: its memory must not be used again
};

class Lane {
 public:
  static Result<Lane> create(Device& device, QueueKind kind, Priority priority, CopyMethod method,
                             std::uint64_t chunk_bytes, std::uint64_t bytes_in_flight);

  void push(const ChunkCopy& copy);
  CopyNumber next_number() const { return pushed_ + 1; }  // of the copy that is pushed next

  // The copy to submit next; null where none waits, or none may until something lands.
  const ChunkCopy* next();

  // Submits next() behind `fences`, split into parts of at most max_regions, each part fenced on
  // the one before. `busy`: call again after a completion, with the same regions. Any other
  // failure ends the copy: it is handed back by reap() once its parts so far have completed.
  Status submit(std::span<const Point> fences, std::span<const Region> regions);

  // Ends next() without submitting it (any further).
  void fail_next(Status status);

  // Ends, with `why`, every copy that waits and that `drop` names, and appends those of which
  // nothing was submitted. One that was submitted in part is handed back by reap() instead.
  template <class Drop>
  void drop_waiting(Drop drop, const Status& why, std::vector<ChunkCopy>& dropped) {
    if (head_begun_ && drop(waiting_.front())) close_head(why);
    for (std::size_t i = begun(); i < waiting_.size(); ++i) {
      if (waiting_[i].dropped || !drop(waiting_[i])) continue;
      waiting_[i].dropped = true;
      dropped.push_back(waiting_[i]);
    }
  }

  // Ends everything with `why`, for good: the queue is not heard from any more. Appends all that
  // was open or waited.
  void give_up(const Status& why, std::vector<LandedCopy>& landed);
  bool given_up() const { return given_up_; }

  // Since when nothing has completed although something is open.
  std::optional<Nanos> stalled_since() const;

  // Appends what landed. A failure here means that the queue can no longer say what did.
  Status reap(std::vector<LandedCopy>& landed);

  enum class State { waiting, open, landed, failed };
  State state(CopyNumber number) const;

  bool ended(CopyNumber number) const { return number <= handed_back_ || dropped(number); }

  // What completes when the (open) copy and everything before it has; empty where that already did.
  std::optional<Point> point(CopyNumber number) const;

  // The oldest open ticket: when it completes, reap() makes progress.
  std::optional<Point> oldest_open() const;

  // Something ended that needs no completion to be handed back by reap().
  bool has_ended() const { return open_.size() > begun() && open_.front().last <= completed_; }

 private:
  struct OpenCopy {
    LandedCopy outcome;
    Ticket last = 0;  // everything up to here must have completed
  };

  Lane(std::unique_ptr<Queue> queue, Device& device, CopyMethod method, std::uint64_t chunk_bytes,
       std::uint64_t bytes_in_flight);
  bool room_for_another() const { return open_.size() < max_open_copies_; }
  std::size_t begun() const { return head_begun_ ? 1 : 0; }
  bool dropped(CopyNumber number) const {
    const CopyNumber before = pushed_ - waiting_.size();
    return number > before && waiting_[number - before - 1].dropped;
  }
  void skip_dropped();
  void begin_head();
  void close_head(Status status);
  void take_in(const Completion& completion);
  void hand_back(std::vector<LandedCopy>& landed);  // all that have ended
  void hand_back(LandedCopy outcome, std::vector<LandedCopy>& landed);

  std::unique_ptr<Queue> queue_;
  Device* device_;
  CopyMethod method_;
  std::uint64_t max_regions_, max_open_copies_;
  Ring<ChunkCopy> waiting_;
  bool head_begun_ = false;  // waiting_'s head also is open_'s back: more parts to come
  Ring<OpenCopy> open_;      // begun, not handed back
  CopyNumber pushed_ = 0, handed_back_ = 0;
  Ticket submitted_ = 0, completed_ = 0;
  Nanos progress_{};  // when something completed, or was submitted to an idle queue
  bool given_up_ = false;
  std::vector<CopyNumber> failed_;  // ascending; those handed back with a failure
  std::vector<Completion> completions_;
};

}  // namespace kvroof
