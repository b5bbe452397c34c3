// SPDX-License-Identifier: Apache-2.0
#include "transfer/lanes/lane.h"

#include <algorithm>
#include <utility>

namespace kvroof {
namespace {

constexpr std::size_t kReapBatch = 32;
constexpr std::uint64_t kMinOpenCopies = 2;

std::size_t index(Station station) { return static_cast<std::size_t>(station); }

std::uint64_t regions_of(const CopyStep& step) {
  const auto* regions = std::get_if<Regions>(&step.body);
  return regions == nullptr ? 0 : regions->list.size();
}

}  // namespace

std::uint64_t open_copies(std::uint64_t chunk_bytes, std::uint64_t bytes_in_flight) {
  return std::max(kMinOpenCopies, bytes_in_flight / chunk_bytes);
}

Result<Lane> Lane::create(Device& device, const LaneConfig& config) {
  std::vector<Track> tracks;
  for (const QueueKind kind : {config.kind, QueueKind::compute}) {
    if (kind == QueueKind::compute && !config.ops) break;
    auto queue = device.open_queue(kind, config.priority);
    if (!queue.ok()) return queue.status();
    tracks.emplace_back(std::move(*queue));
  }
  return Lane(std::move(tracks), device, config);
}

Lane::Lane(std::vector<Track> tracks, Device& device, const LaneConfig& config)
    : tracks_(std::move(tracks)),
      device_(&device),
      most_open_(config.most_open),
      most_open_layers_(config.most_open * config.layers),
      completions_(kReapBatch) {}

void Lane::push(const ChunkCopy& copy) {
  waiting_.push(copy);
  ++pushed_;
}

const ChunkCopy* Lane::next() {
  skip_dropped();
  if (waiting_.empty()) return nullptr;
  const ChunkCopy& head = waiting_.front();
  if (head_begun_ || open_.empty()) return &head;
  const Station others = cache_station(open_.back().outcome.copy.path);
  const std::uint64_t most = head.layer == kAllLayers ? most_open_ : most_open_layers_;
  const bool may = open_.size() < most && cache_station(head.path) == others;
  return may ? &head : nullptr;
}

Status Lane::submit(std::span<const Point> fences, std::span<const CopyStep> steps) {
  begin_head();
  OpenCopy& head = open_.back();
  while (head.steps < steps.size()) {
    const CopyStep& step = steps[head.steps];
    const bool was_idle = idle();
    const Result<Ticket> ticket = submit(step, fences);
    if (ticket.code() == Code::busy) return ticket.status();
    if (!ticket.ok()) {
      close_head(ticket.status());
      return ticket.status();
    }
    if (was_idle) progress_ = device_->now();
    step_before_ = tracks_[index(step.station)].point(*ticket);
    head.last[index(step.station)] = *ticket;
    if (step.touches_cache) {
      head.cache_station = index(step.station);
      head.cache = *ticket;
      head.fenced = true;
    }
    if (step.converts) head.converting = *ticket;
    head.outcome.regions += regions_of(step);
    ++head.steps;
  }
  close_head({});
  return {};
}

// The fences hold for the first step that touches the cache, and through it for those behind it.
Result<Ticket> Lane::submit(const CopyStep& step, std::span<const Point> fences) {
  Track& track = tracks_[index(step.station)];
  const OpenCopy& head = open_.back();
  const bool first = head.steps == 0, fenced = step.touches_cache && !head.fenced;
  if (first)
    return track.submit({.fences = fenced ? fences : std::span<const Point>(), .body = step.body});
  if (!fenced) return track.submit({.fences = {&step_before_, 1}, .body = step.body});
  step_fences_.assign(fences.begin(), fences.end());
  step_fences_.push_back(step_before_);
  return track.submit({.fences = step_fences_, .body = step.body});
}

void Lane::fail_next(Status status) {
  begin_head();
  close_head(std::move(status));
}

void Lane::begin_head() {
  if (head_begun_) return;
  const Nanos now = device_->now();
  OpenCopy head{.outcome = {.copy = waiting_.front(),
                            .number = head_number(),
                            .status = {},
                            .regions = 0,
                            .submitted = now,
                            .interval = {now, Nanos::min()}}};
  for (std::size_t i = 0; i < tracks_.size(); ++i) head.last[i] = tracks_[i].submitted();
  head.cache_station = index(cache_station(head.outcome.copy.path));
  head.cache = head.last[head.cache_station];
  open_.push(std::move(head));
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
    outcome.may_still_land = copy.steps > 0 && !is_over(copy);
    if (outcome.may_still_land) outcome.status = why;
    hand_back(outcome, landed);
  }
  for (Track& track : tracks_) track.forget_open();
}

bool Lane::idle() const {
  return std::all_of(tracks_.begin(), tracks_.end(),
                     [](const Track& track) { return track.idle(); });
}

std::optional<Nanos> Lane::stalled_since() const {
  return idle() ? std::nullopt : std::optional(progress_);
}

Status Lane::reap(std::vector<LandedCopy>& landed) {
  hand_back(landed);  // those that ended without a ticket
  bool progress = false;
  for (std::size_t station = 0; station < tracks_.size(); ++station) {
    Status status = tracks_[station].reap(completions_, [&](const Completion& completion) {
      progress = true;
      take_in(station, completion);
      hand_back(landed);
    });
    if (!status.ok()) return status;
  }
  if (progress) progress_ = device_->now();
  return {};
}

// Completions come in ticket order, so the next one of a station belongs to the copy of the last
// one, or to the first behind it that has tickets there. A step that was aborted for a failed one
// must not hide why.
void Lane::take_in(std::size_t station, const Completion& completion) {
  CopyNumber& number = completing_[station];
  number = std::max(number, handed_back_ + 1);
  while (open(number).last[station] < completion.ticket) ++number;
  LandedCopy& outcome = open(number).outcome;
  const bool explains = outcome.status.ok() || outcome.status.code == Code::aborted;
  if (!completion.status.ok() && explains) outcome.status = completion.status;
  if (!completion.interval) return;
  if (station == index(Station::ops) && completion.ticket == open(number).converting) {
    outcome.converting = completion.interval->end - completion.interval->begin;
  }
  Interval& interval = outcome.interval;
  const bool first = interval.end == Nanos::min();
  interval.begin =
      first ? completion.interval->begin : std::min(interval.begin, completion.interval->begin);
  interval.end = std::max(interval.end, completion.interval->end);
}

bool Lane::is_over(const OpenCopy& copy) const {
  for (std::size_t i = 0; i < tracks_.size(); ++i) {
    if (!tracks_[i].has_completed(copy.last[i])) return false;
  }
  return true;
}

void Lane::hand_back(std::vector<LandedCopy>& landed) {
  while (has_ended()) hand_back(open_.pop().outcome, landed);
}

void Lane::hand_back(LandedCopy outcome, std::vector<LandedCopy>& landed) {
  if (outcome.interval.end == Nanos::min()) outcome.interval.end = device_->now();
  if (outcome.status.ok() && is_checked(outcome)) outcome.status = check_(outcome);
  handed_back_ = outcome.number;
  if (!outcome.status.ok()) failed_.push_back(outcome.number);
  if (!outcome.copy.dropped) landed.push_back(std::move(outcome));
}

Lane::State Lane::state(CopyNumber number) const {
  if (dropped(number)) return State::failed;
  if (number >= head_number()) return State::waiting;
  if (number > handed_back_) {
    const LandedCopy& outcome = open(number).outcome;
    if (!outcome.status.ok()) return State::failed;
    return is_checked(outcome) ? State::waiting : State::open;
  }
  const bool failed = std::binary_search(failed_.begin(), failed_.end(), number);
  return failed ? State::failed : State::landed;
}

std::optional<Point> Lane::point(CopyNumber number) const {
  if (number <= handed_back_ || number > handed_back_ + open_.size()) return std::nullopt;
  if (number >= head_number()) return std::nullopt;
  const OpenCopy& copy = open(number);
  const Track& track = tracks_[copy.cache_station];
  if (track.has_completed(copy.cache)) return std::nullopt;
  return track.point(copy.cache);
}

void Lane::add_oldest_open(std::vector<Point>& points) const {
  for (const Track& track : tracks_) {
    if (const auto point = track.oldest_open()) points.push_back(*point);
  }
}

}  // namespace kvroof
