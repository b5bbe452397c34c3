// SPDX-License-Identifier: Apache-2.0
// One direction of copying: chunk copies wait in order, are submitted step by step as the queues
// and the bound on bytes in flight allow, and are handed back in order with their own status once
// they landed.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "backends/api/device.h"
#include "transfer/lanes/chunk_copy.h"
#include "transfer/lanes/ring.h"
#include "transfer/lanes/track.h"

namespace kvroof {

// How many copies of chunks of `chunk_bytes` a lane has open at once: as many as the bound allows,
// and always one more than is being copied, so that the link never idles.
std::uint64_t open_copies(std::uint64_t chunk_bytes, std::uint64_t bytes_in_flight);

struct LaneConfig {
  QueueKind kind = QueueKind::copy_in;
  Priority priority = Priority::normal;
  bool ops = false;             // copies may have steps that are ops
  std::uint64_t most_open = 2;  // copies of whole chunks: open_copies()
  std::uint32_t layers = 1;     // of a chunk: as many times more of its layers' copies
};

// Of a copy that landed well and is summed: ok, or why it must not be used after all.
using LandingCheck = std::function<Status(const LandedCopy&)>;

class Lane {
 public:
  static Result<Lane> create(Device& device, const LaneConfig& config);

  // From now on a summed copy has not landed, for those who ask for its state, before it passed.
  void check_landings(LandingCheck check) { check_ = std::move(check); }

  void push(const ChunkCopy& copy);
  CopyNumber next_number() const { return pushed_ + 1; }  // of the copy that is pushed next

  // The copy to submit next; null where none waits, or none may until something lands. Copies whose
  // steps touch the cache at different stations are never open at once: nothing would order them.
  const ChunkCopy* next();

  CopyNumber next_copy() const { return head_number(); }  // number of next()

  // Of next(): whether some of it may have been submitted already, and its place among as many as
  // may be open, which no other open copy has.
  bool next_is_begun() const { return head_begun_; }
  std::uint64_t next_place() const { return place_of(head_number()); }
  std::uint64_t place_of(CopyNumber number) const { return (number - 1) % most_open_; }

  // Submits next(), behind `fences` where it touches the cache. `busy`: call again after a
  // completion, with the same steps. Any other failure ends the copy: it is handed back by reap()
  // once its steps so far have completed.
  Status submit(std::span<const Point> fences, std::span<const CopyStep> steps);

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

  // Ends everything with `why`, for good: the queues are not heard from any more. Appends all that
  // was open or waited.
  void give_up(const Status& why, std::vector<LandedCopy>& landed);
  bool given_up() const { return given_up_; }

  // Since when nothing has completed although something is open.
  std::optional<Nanos> stalled_since() const;

  // Appends what landed. A failure here means that a queue can no longer say what did.
  Status reap(std::vector<LandedCopy>& landed);

  // waiting: to be submitted, or, where landings are checked, to land: nothing may follow it yet.
  enum class State { waiting, open, landed, failed };
  State state(CopyNumber number) const;

  // Not submitted (whole) yet, nor dropped.
  bool waits(CopyNumber number) const { return number >= head_number() && !dropped(number); }

  bool ended(CopyNumber number) const { return number <= handed_back_ || dropped(number); }

  // A dropped copy ends before those in front of it: the nearest of these that is not dropped, for
  // whoever comes after the copy and so after them all. Otherwise the copy itself.
  CopyNumber last_kept(CopyNumber number) const {
    while (dropped(number)) --number;
    return number;
  }

  // What completes when the (open) copy, and all before it, no longer touches the cache; empty
  // where that already did. A load has landed then.
  std::optional<Point> point(CopyNumber number) const;

  // Appends the oldest open ticket of each queue: when one completes, reap() makes progress.
  void add_oldest_open(std::vector<Point>& points) const;

  // Something ended that needs no completion to be handed back by reap().
  bool has_ended() const { return open_.size() > begun() && is_over(open_.front()); }

 private:
  static constexpr std::size_t kStations = 2;

  struct OpenCopy {
    LandedCopy outcome;
    std::size_t steps = 0;                 // submitted
    std::array<Ticket, kStations> last{};  // everything up to here must have completed
    std::size_t cache_station = 0;         // of the last that touches the cache, and as in `last`
    Ticket cache = 0;
    bool fenced = false;    // a step that touches the cache was submitted
    Ticket converting = 0;  // among the ops; 0: no such step was submitted
  };

  Lane(std::vector<Track> tracks, Device& device, const LaneConfig& config);
  std::size_t begun() const { return head_begun_ ? 1 : 0; }
  CopyNumber head_number() const { return pushed_ - waiting_.size() + 1; }
  OpenCopy& open(CopyNumber number) { return open_[number - handed_back_ - 1]; }
  const OpenCopy& open(CopyNumber number) const { return open_[number - handed_back_ - 1]; }
  bool dropped(CopyNumber number) const {
    return number >= head_number() && waiting_[number - head_number()].dropped;
  }
  bool idle() const;
  bool is_over(const OpenCopy& copy) const;
  Result<Ticket> submit(const CopyStep& step, std::span<const Point> fences);
  void skip_dropped();
  void begin_head();
  void close_head(Status status);
  void take_in(std::size_t station, const Completion& completion);
  void hand_back(std::vector<LandedCopy>& landed);  // all that have ended
  bool is_checked(const LandedCopy& copy) const { return check_ && copy.copy.summed; }
  void hand_back(LandedCopy outcome, std::vector<LandedCopy>& landed);

  std::vector<Track> tracks_;  // by Station
  Device* device_;
  std::uint64_t most_open_, most_open_layers_;
  Ring<ChunkCopy> waiting_;
  bool head_begun_ = false;  // waiting_'s head also is open_'s back: more steps to come
  Ring<OpenCopy> open_;      // begun, not handed back
  CopyNumber pushed_ = 0, handed_back_ = 0;
  std::array<CopyNumber, kStations> completing_{};  // whose completion came last, by station
  Nanos progress_{};  // when something completed, or was submitted to idle queues
  bool given_up_ = false;
  LandingCheck check_;
  Point step_before_;                    // of the head's last step
  std::vector<CopyNumber> failed_;       // ascending; those handed back with a failure
  std::vector<Completion> completions_;  // scratch, kept for their memory
  std::vector<Point> step_fences_;
};

}  // namespace kvroof
