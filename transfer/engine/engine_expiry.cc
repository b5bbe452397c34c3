// SPDX-License-Identifier: Apache-2.0
// Ending what goes on for too long: copies that wait past their deadline are dropped, and a lane on
// which a copy never ends is given up.
#include <algorithm>

#include "transfer/engine/engine_impl.h"

namespace kvroof {

void EngineImpl::drop_waiting(Lane& lane, const WhichCopies& which, const Status& why) {
  dropped_.clear();
  lane.drop_waiting(which, why, dropped_);
  for (const ChunkCopy& copy : dropped_) {
    // Of a chunk's layers the last one waits behind the others.
    const bool ends_chunk = copy.layer == kAllLayers || copy.layer + 1 == layers_;
    counters_.chunks_dropped += ends_chunk ? 1 : 0;
    take_in(
        {.copy = copy, .number = 0, .status = why, .regions = 0, .submitted = {}, .interval = {}});
  }
}

void EngineImpl::drop_late(Nanos now) {
  const auto is_late = [&](const ChunkCopy& copy) {
    return transfers_[copy.transfer].deadline <= now;
  };
  for (Lane* lane : {&load_lane_, &offload_lane_}) {
    drop_waiting(*lane, is_late,
                 {Code::timeout, "Its deadline passed before the device was handed the copy."});
  }
  earliest_deadline_ = Nanos::max();
  transfers_.for_each_open([&](const OpenTransfer& transfer) {
    if (transfer.deadline > now)
      earliest_deadline_ = std::min(earliest_deadline_, transfer.deadline);
  });
}

// After what has landed was taken in, so that nothing is given up that has.
void EngineImpl::expire() {
  if (next_expiry() == Nanos::max()) return;
  const Nanos now = device_.now();
  if (earliest_deadline_ <= now) drop_late(now);
  give_up_stalled(now);
}

void EngineImpl::give_up_stalled(Nanos now) {
  for (Lane* lane : {&load_lane_, &offload_lane_}) {
    const auto since = lane->stalled_since();
    if (copy_timeout_ > Nanos{} && since && now - *since >= copy_timeout_) give_up(*lane);
  }
}

// A late copy may still write to its destination: slots and blocks that are one are lost for good.
void EngineImpl::give_up(Lane& lane) {
  std::vector<LandedCopy> ended;
  lane.give_up({Code::lost, "The copy, or one before it, did not end within the time allowed."},
               ended);
  for (const LandedCopy& copy : ended) {
    const OpenTransfer& transfer = transfers_[copy.copy.transfer];
    if (copy.may_still_land && transfer.direction == Direction::load) {
      lost_blocks_.resize(blocks_);
      for (const BlockId block : transfer.blocks_of(copy.copy.chunk)) lost_blocks_[block] = true;
    }
    take_in(copy);
  }
}

Nanos EngineImpl::next_expiry() const {
  Nanos next = earliest_deadline_;
  if (copy_timeout_ == Nanos{}) return next;
  for (const Lane* lane : {&load_lane_, &offload_lane_}) {
    if (const auto since = lane->stalled_since()) next = std::min(next, *since + copy_timeout_);
  }
  return next;
}

// Waits until a lane makes progress, or something expires: poll() then acts.
Status EngineImpl::wait_for_progress(Nanos deadline) {
  const std::vector<Point> points = open_points();
  if (points.empty()) {
    return {Code::stuck, "The device takes no copy although none is open: it can't end."};
  }
  const Nanos expiry = next_expiry(), until = std::min(deadline, expiry);
  auto waited = device_.wait_any(points, until);
  // Virtual time that has no event left can still be slept through.
  if (waited.code() == Code::stuck && expiry < Nanos::max()) waited = device_.wait_any({}, until);
  if (waited.code() == Code::timeout && expiry <= deadline) return {};
  return waited.status();
}

}  // namespace kvroof
