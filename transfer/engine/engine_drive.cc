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
  disk_.reset();  // drains, and no copy waits for it
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
    if (Status polled = poll_disk(); status.ok()) status = std::move(polled);
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
    switch (gather_fences(lane, *copy, other)) {
      case Readiness::waits:
        return progress;
      case Readiness::hopeless:
        lane.fail_next({Code::aborted,
                        "A copy that it comes after failed: the blocks to offload, "
                        "or the layers before it, hold nothing good."});
        break;
      case Readiness::ready:
        if (!submit(lane, *copy)) return progress;
        break;
    }
    progress = true;
  }
  return progress;
}

EngineImpl::Readiness EngineImpl::gather_fences(const Lane& lane, const ChunkCopy& copy,
                                                const Lane& other) {
  const OpenTransfer& transfer = transfers_[copy.transfer];
  fences_.clear();
  for (std::uint32_t i = copy.first_need; i < copy.end_need; ++i) {
    const Need& need = transfer.needs[i];
    if (need.queue != nullptr) {
      fences_.push_back({need.queue, need.number});
      continue;
    }
    if (need.same_lane) {
      if (!lane.ended(need.number)) return Readiness::waits;
      continue;
    }
    // Bytes of a failed load must not be offloaded; that an offload failed is no reason not to
    // overwrite its source.
    const bool offload = transfer.direction == Direction::offload;
    if (offload && other.state(need.number) == Lane::State::failed) return Readiness::hopeless;
    const CopyNumber kept = other.last_kept(need.number);
    if (other.state(kept) == Lane::State::waiting) return Readiness::waits;
    if (const auto point = other.point(kept)) fences_.push_back(*point);
  }
  return copy.layer == kAllLayers || copy.layer == 0 ? Readiness::ready : follow_layer(lane, copy);
}

// A layer's copy fails with the same chunk's layer before it, so that the last one's end tells of
// them all.
EngineImpl::Readiness EngineImpl::follow_layer(const Lane& lane, const ChunkCopy& copy) {
  const CopyNumber before = lane.next_copy() - transfers_[copy.transfer].result.chunks;
  if (lane.state(before) == Lane::State::failed) return Readiness::hopeless;
  if (const auto point = lane.point(before)) fences_.push_back(*point);
  return Readiness::ready;
}

// False where the queue is busy. Any other failure is the copy's own, and comes back with it.
bool EngineImpl::submit(Lane& lane, const ChunkCopy& copy) {
  const OpenTransfer& transfer = transfers_[copy.transfer];
  const CopyEnds ends{transfer.blocks_of(copy.chunk), tier_.span(copy.slot),
                      transfer.skipped(copy.chunk)};
  ChainPlanner& planner = planner_of(transfer.direction);
  return lane.submit(fences_, planner.plan(lane, copy, ends)).code != Code::busy;
}

Status EngineImpl::reap(Lane& lane) {
  landed_.clear();
  Status status = lane.reap(landed_);
  for (const LandedCopy& landed : landed_) take_in(landed);
  return status;
}

void EngineImpl::take_in(const LandedCopy& landed) {
  OpenTransfer& transfer = transfers_[landed.copy.transfer];
  const std::uint64_t bytes = bytes_of(landed.copy);
  transfer.result.regions += landed.regions;
  if (landed.regions > 0) widen(transfer.result.interval, landed.interval);
  if (landed.status.ok()) {
    take_in_bytes(landed, bytes);
  } else {
    take_in_failure(landed);
  }
  switch (transfer.copy_ended(landed.copy.chunk, landed.status.ok())) {
    case OpenTransfer::ChunkEnd::not_yet:
      break;
    case OpenTransfer::ChunkEnd::well:
      end_chunk_well(landed);
      break;
    case OpenTransfer::ChunkEnd::failed:
      ++transfer.result.failed_chunks;
      ++counters_.chunks_failed;
      break;
  }
  --transfer.copies_open;
  bytes_open_[static_cast<std::size_t>(transfer.direction)] -= bytes;
  end_if_done(landed.copy.transfer);
}

std::uint64_t EngineImpl::bytes_of(const ChunkCopy& copy) {
  const std::uint64_t all = transfers_[copy.transfer].blocks_of(copy.chunk).size() * block_bytes_;
  return copy.layer == kAllLayers ? all : all / layers_;
}

void EngineImpl::take_in_bytes(const LandedCopy& landed, std::uint64_t bytes) {
  OpenTransfer& transfer = transfers_[landed.copy.transfer];
  const bool first =
      landed.copy.chunk == 0 && (landed.copy.layer == kAllLayers || landed.copy.layer == 0);
  meters_[static_cast<std::size_t>(transfer.direction)].landed(bytes, landed.interval,
                                                               landed.submitted, first);
  transfer.result.bytes += bytes;
  transfer.result.converting += landed.converting;
  const bool offload = transfer.direction == Direction::offload;
  (offload ? counters_.bytes_offloaded : counters_.bytes_loaded) += bytes;
}

void EngineImpl::end_chunk_well(const LandedCopy& landed) {
  const ChunkCopy& copy = landed.copy;
  if (transfers_[copy.transfer].direction == Direction::load) {
    ++counters_.chunks_loaded;
    if (gate_.is_exclusive()) hand_over(copy);
    return;
  }
  ++counters_.chunks_offloaded;
  if (copy.summed) keep_sum(landed);
  tier_.commit(copy.slot);
  if (disk_) disk_->write(copy.slot);
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
}

void EngineImpl::keep_sum(const LandedCopy& landed) {
  const std::uint64_t place = offload_lane_.place_of(landed.number);
  tier_.set_sum(landed.copy.slot, planner_of(Direction::offload).sum(place));
  ++counters_.chunks_summed;
}

// Of a load that landed. Whether the copy or the chunk is bad nobody can tell: it goes,
// and its file.
Status EngineImpl::compare(const LandedCopy& landed) {
  const SlotId slot = landed.copy.slot;
  const std::uint64_t place = load_lane_.place_of(landed.number);
  ++counters_.chunks_checked;
  if (planner_of(Direction::load).sum(place) == tier_.sum(slot)) return {};
  ++counters_.chunks_corrupt;
  if (disk_) disk_->discard(tier_.key(slot));
  if (tier_.visible(slot)) tier_.drop(slot);
  return {Code::failed, "A chunk did not have the checksum that it was stored with: recompute it."};
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
  if (disk_) disk_->add_open_points(points);
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
