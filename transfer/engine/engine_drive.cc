// SPDX-License-Identifier: Apache-2.0
// Driving the engine: feeding the lanes, taking in what landed, waiting.
#include <algorithm>
#include <utility>

#include "transfer/engine/engine_impl.h"

namespace kvroof {
namespace {

// An empty interval (as one that nothing was added to) takes the other's place.
void widen(Interval& interval, const Interval& other) {
  if (interval.end == interval.begin) {
    interval = other;
    return;
  }
  interval.begin = std::min(interval.begin, other.begin);
  interval.end = std::max(interval.end, other.end);
}

}  // namespace

// Both lanes drain before either is destroyed: a copy may be fenced on one of the other lane.
EngineImpl::~EngineImpl() {
  do {
    if (!reap(load_lane_).ok() || !reap(offload_lane_).ok()) return;
    expire();
  } while (!open_points().empty() && wait_for_progress(Nanos::max()).ok());
}

// Feeding may end copies that never get a ticket, and so a completion: those are taken in too.
Status EngineImpl::poll() {
  Status status;
  do {
    for (Lane* lane : {&load_lane_, &offload_lane_}) {
      if (Status reaped = reap(*lane); status.ok()) status = std::move(reaped);
    }
    expire();
    feed_lanes();
  } while (status.ok() && (load_lane_.has_ended() || offload_lane_.has_ended()));
  return status;
}

// A copy may wait for one of the other lane to be submitted. Requests come one after the other, so
// the oldest copy that waits anywhere never does, and going round ends with all that can go gone.
void EngineImpl::feed_lanes() {
  bool progress = true;
  while (progress) {
    progress = feed(load_lane_, offload_lane_);
    progress = feed(offload_lane_, load_lane_) || progress;
  }
}

bool EngineImpl::feed(Lane& lane, const Lane& other) {
  bool progress = false;
  while (const ChunkCopy* copy = lane.next()) {
    switch (gather_fences(*copy, other)) {
      case Readiness::waits:
        return progress;
      case Readiness::hopeless:
        lane.fail_next(
            {Code::aborted, "The blocks to offload hold nothing good: a load into them failed."});
        break;
      case Readiness::ready:
        if (!submit(lane, *copy)) return progress;
        break;
    }
    progress = true;
  }
  return progress;
}

EngineImpl::Readiness EngineImpl::gather_fences(const ChunkCopy& copy, const Lane& other) {
  const OpenTransfer& transfer = transfers_[copy.transfer];
  fences_.clear();
  for (std::uint32_t i = copy.first_need; i < copy.end_need; ++i) {
    const Need& need = transfer.needs[i];
    if (need.queue != nullptr) {
      fences_.push_back({need.queue, need.number});
      continue;
    }
    const Lane::State state = other.state(need.number);
    if (state == Lane::State::waiting) return Readiness::waits;
    // Bytes of a failed load must not be offloaded; that an offload failed is no reason not to
    // overwrite its source.
    const bool source_bad =
        state == Lane::State::failed && transfer.direction == Direction::offload;
    if (source_bad) return Readiness::hopeless;
    if (const auto point = other.point(need.number)) fences_.push_back(*point);
  }
  return Readiness::ready;
}

// False where the queue is busy. Any other failure is the copy's own, and comes back with it.
bool EngineImpl::submit(Lane& lane, const ChunkCopy& copy) {
  const OpenTransfer& transfer = transfers_[copy.transfer];
  const auto blocks = transfer.blocks_of(copy.chunk);
  const std::uint64_t skipped = transfer.skipped(copy.chunk) * block_bytes_;
  Span chunk = tier_.span(copy.slot);
  chunk.offset += skipped;
  chunk.bytes -= skipped;
  ChainPlanner& planner = planners_[static_cast<std::size_t>(transfer.direction)];
  return lane.submit(fences_, planner.plan(lane, copy, blocks, chunk)).code != Code::busy;
}

Status EngineImpl::reap(Lane& lane) {
  landed_.clear();
  Status status = lane.reap(landed_);
  for (const LandedCopy& landed : landed_) take_in(landed);
  return status;
}

void EngineImpl::take_in(const LandedCopy& landed) {
  OpenTransfer& transfer = transfers_[landed.copy.transfer];
  const auto at = static_cast<std::size_t>(transfer.direction);
  const std::uint64_t blocks = transfer.blocks_of(landed.copy.chunk).size();
  transfer.result.regions += landed.regions;
  if (landed.regions > 0) widen(transfer.result.interval, landed.interval);
  if (landed.status.ok()) {
    take_in_success(landed, blocks * block_bytes_);
  } else {
    take_in_failure(landed);
  }
  --transfer.copies_open;
  blocks_open_[at] -= blocks;
  end_if_done(landed.copy.transfer);
}

void EngineImpl::take_in_success(const LandedCopy& landed, std::uint64_t bytes) {
  OpenTransfer& transfer = transfers_[landed.copy.transfer];
  const bool offload = transfer.direction == Direction::offload;
  if (offload) {
    tier_.commit(landed.copy.slot);
  } else if (gate_.is_exclusive()) {
    hand_over(landed.copy);
  }
  meters_[static_cast<std::size_t>(transfer.direction)].landed(
      bytes, landed.interval, landed.submitted, landed.copy.chunk == 0);
  transfer.result.bytes += bytes;
  ++(offload ? counters_.chunks_offloaded : counters_.chunks_loaded);
  (offload ? counters_.bytes_offloaded : counters_.bytes_loaded) += bytes;
}

// The slot of a copy that may still land keeps its reference: as a source it must not change, and
// as a destination it must hold nothing else.
void EngineImpl::take_in_failure(const LandedCopy& landed) {
  OpenTransfer& transfer = transfers_[landed.copy.transfer];
  SlotId& slot = transfer.slots[landed.copy.chunk];
  if (transfer.direction == Direction::offload) {
    tier_.abandon(std::exchange(slot, kNoSlot), landed.may_still_land);
  } else if (landed.may_still_land) {
    slot = kNoSlot;
  }
  if (transfer.result.status.ok()) transfer.result.status = landed.status;
  ++transfer.result.failed_chunks;
  ++counters_.chunks_failed;
}

// What was skipped of a chunk the cache has already, but a chunk whose end was left out stays.
// Another load of it may have handed it over before.
void EngineImpl::hand_over(const ChunkCopy& copy) {
  const OpenTransfer& transfer = transfers_[copy.transfer];
  const std::size_t loaded = transfer.blocks_of(copy.chunk).size();
  if (transfer.skipped(copy.chunk) + loaded < blocks_per_chunk_) return;
  if (!tier_.visible(copy.slot) || tier_.is_protected(copy.slot)) return;
  tier_.drop(copy.slot);
  ++counters_.chunks_handed_over;
}

// References go back from the last chunk to the first, so that of a prefix the end is evicted
// first: without its beginning it could not be used.
void EngineImpl::end_if_done(std::uint32_t index) {
  OpenTransfer& transfer = transfers_[index];
  if (transfer.copies_open > 0) return;
  counters_.chunks_held += transfer.result.chunks_held;
  counters_.chunks_refused += transfer.result.chunks_refused;
  counters_.chunks_unwanted += transfer.result.chunks_unwanted;
  counters_.chunks_collided += transfer.result.chunks_collided;
  counters_.chunks_evicted = tier_.evictions();
  std::reverse(transfer.slots.begin(), transfer.slots.end());
  tier_.release(transfer.slots);
  transfers_.close(index);
}

std::vector<Point> EngineImpl::open_points() const {
  std::vector<Point> points;
  for (const Lane* lane : {&load_lane_, &offload_lane_}) {
    lane->add_oldest_open(points);
  }
  return points;
}

std::vector<TransferResult> EngineImpl::take_results() { return transfers_.take_all(); }

Result<TransferResult> EngineImpl::wait(TransferId id, Nanos deadline) {
  for (;;) {
    const Status polled = poll();
    if (auto result = transfers_.take(id)) return std::move(*result);
    if (!polled.ok()) return polled;
    if (transfers_.find(id) == nullptr) {
      return Status{Code::invalid, "No transfer has this id, or its result was taken already."};
    }
    if (Status status = wait_for_progress(deadline); !status.ok()) return status;
  }
}

}  // namespace kvroof
