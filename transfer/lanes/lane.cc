// SPDX-License-Identifier: Apache-2.0
#include "transfer/lanes/lane.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace kvroof {
namespace {

constexpr std::size_t kReapBatch = 32;
constexpr std::uint64_t kMinOpenCopies =
    2;  // one more than being copied, so that the link never idles

}  // namespace

Result<Lane> Lane::create(Device& device, QueueKind kind, Priority priority, CopyMethod method,
                          std::uint64_t chunk_bytes, std::uint64_t bytes_in_flight) {
  auto queue = device.open_queue(kind, priority);
  if (!queue.ok()) return queue.status();
  return Lane(std::move(*queue), device, method, chunk_bytes, bytes_in_flight);
}

Lane::Lane(std::unique_ptr<Queue> queue, Device& device, CopyMethod method,
           std::uint64_t chunk_bytes, std::uint64_t bytes_in_flight)
    : queue_(std::move(queue)),
      device_(&device),
      method_(method),
      max_regions_(device.info().max_regions),
      max_open_copies_(std::max(kMinOpenCopies, bytes_in_flight / chunk_bytes)),
      completions_(kReapBatch) {
  if (max_regions_ == 0) max_regions_ = std::numeric_limits<std::uint64_t>::max();
}

void Lane::push(const ChunkCopy& copy) {
  waiting_.push(copy);
  ++pushed_;
}

const ChunkCopy* Lane::next() {
  skip_dropped();
  if (waiting_.empty()) return nullptr;
  return head_begun_ || room_for_another() ? &waiting_.front() : nullptr;
}

Status Lane::submit(std::span<const Point> fences, std::span<const Region> regions) {
  begin_head();
  std::uint64_t& done = open_.back().outcome.regions;
  while (done < regions.size()) {
    const Point previous{queue_.get(), submitted_};
    const auto part = regions.subspan(done, std::min(regions.size() - done, max_regions_));
    const Result<Ticket> ticket =
        queue_->submit({.fences = done == 0 ? fences : std::span(&previous, 1),
                        .body = Regions{.list = part, .method = method_}});
    if (ticket.code() == Code::busy) return ticket.status();
    if (!ticket.ok()) {
      close_head(ticket.status());
      return ticket.status();
    }
    if (completed_ == submitted_) progress_ = device_->now();
    submitted_ = open_.back().last = *ticket;
    done += part.size();
  }
  close_head({});
  return {};
}

void Lane::fail_next(Status status) {
  begin_head();
  close_head(std::move(status));
}

void Lane::begin_head() {
  if (head_begun_) return;
  const CopyNumber number = pushed_ - waiting_.size() + 1;
  const Nanos now = device_->now();
  open_.push({.outcome = {.copy = waiting_.front(),
                          .number = number,
                          .status = {},
                          .regions = 0,
                          .submitted = now,
                          .interval = {now, Nanos::min()}},
              .last = submitted_});
  head_begun_ = true;
}

void Lane::close_head(Status status) {
  Status& outcome = open_.back().outcome.status;
  if (outcome.ok()) outcome = std::move(status);
  waiting_.pop();
  head_begun_ = false;
}

// Each takes its turn, so that numbers are handed back in order, but needs no room.
void Lane::skip_dropped() {
  while (!head_begun_ && !waiting_.empty() && waiting_.front().dropped) {
    fail_next({Code::aborted, "It ended while it waited."});
  }
}

void Lane::give_up(const Status& why, std::vector<LandedCopy>& landed) {
  given_up_ = true;
  while (!waiting_.empty()) fail_next(why);
  while (!open_.empty()) {
    OpenCopy copy = open_.pop();
    LandedCopy& outcome = copy.outcome;
    outcome.may_still_land = outcome.regions > 0 && copy.last > completed_;
    if (outcome.may_still_land) outcome.status = why;
    hand_back(outcome, landed);
  }
  completed_ = submitted_;
}

std::optional<Nanos> Lane::stalled_since() const {
  return completed_ < submitted_ ? std::optional(progress_) : std::nullopt;
}

Status Lane::reap(std::vector<LandedCopy>& landed) {
  hand_back(landed);  // those that ended without a ticket
  const Ticket before = completed_;
  while (completed_ < submitted_) {
    const Result<std::size_t> count = queue_->reap(completions_);
    if (!count.ok()) return count.status();
    for (std::size_t i = 0; i < *count; ++i) {
      take_in(completions_[i]);
      hand_back(landed);
    }
    if (*count < completions_.size()) break;
  }
  if (completed_ != before) progress_ = device_->now();
  return {};
}

// Completions come in ticket order and done copies are handed back at once, so the oldest open copy
// is the one that this ticket belongs to.
void Lane::take_in(const Completion& completion) {
  completed_ = completion.ticket;
  LandedCopy& outcome = open_.front().outcome;
  if (!completion.status.ok() && outcome.status.ok()) outcome.status = completion.status;
  if (!completion.interval) return;
  const bool first = outcome.interval.end == Nanos::min();
  if (first) outcome.interval.begin = completion.interval->begin;
  outcome.interval.end = completion.interval->end;
}

void Lane::hand_back(std::vector<LandedCopy>& landed) {
  while (has_ended()) hand_back(open_.pop().outcome, landed);
}

void Lane::hand_back(LandedCopy outcome, std::vector<LandedCopy>& landed) {
  if (outcome.interval.end == Nanos::min()) outcome.interval.end = device_->now();
  handed_back_ = outcome.number;
  if (!outcome.status.ok()) failed_.push_back(outcome.number);
  if (!outcome.copy.dropped) landed.push_back(std::move(outcome));
}

Lane::State Lane::state(CopyNumber number) const {
  if (dropped(number)) return State::failed;
  if (number > pushed_ - waiting_.size()) return State::waiting;
  if (number > handed_back_) {
    return open_[number - handed_back_ - 1].outcome.status.ok() ? State::open : State::failed;
  }
  const bool failed = std::binary_search(failed_.begin(), failed_.end(), number);
  return failed ? State::failed : State::landed;
}

std::optional<Point> Lane::point(CopyNumber number) const {
  if (number <= handed_back_ || number > handed_back_ + open_.size()) return std::nullopt;
  if (state(number) == State::waiting) return std::nullopt;
  const Ticket last = open_[number - handed_back_ - 1].last;
  if (last <= completed_) return std::nullopt;
  return Point{queue_.get(), last};
}

std::optional<Point> Lane::oldest_open() const {
  if (completed_ == submitted_) return std::nullopt;
  return Point{queue_.get(), completed_ + 1};
}

}  // namespace kvroof
