// SPDX-License-Identifier: Apache-2.0
#include "backends/host/queue.h"

#include <sys/prctl.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>
#include <utility>

#include "backends/host/errors.h"
#include "backends/host/spans.h"

namespace kvroof::host {
namespace {

Nanos steady_now() {
  return std::chrono::duration_cast<Nanos>(std::chrono::steady_clock::now().time_since_epoch());
}

bool on_device(const Span& span) { return span.buffer->facts().kind == MemoryKind::device; }

}  // namespace

HostQueue::HostQueue(QueueKind kind, unsigned copy_workers, QueueLimits limits, State& state,
                     Ops& ops, Pacer* pacer)
    : kind_(kind), limits_(limits), state_(state), ops_(ops), pacer_(pacer), crew_(copy_workers) {
  {
    std::lock_guard lock(state_.mutex);
    state_.timelines[this] = timeline_;
  }
  thread_ = std::thread([this] { run(); });
}

HostQueue::~HostQueue() {
  {
    std::lock_guard lock(state_.mutex);
    draining_ = true;
  }
  arrived_.notify_all();
  state_.changed.notify_all();
  thread_.join();
  std::lock_guard lock(state_.mutex);
  state_.timelines.erase(this);
}

Result<Ticket> HostQueue::submit(const Work& work) noexcept try {
  Item item;
  if (Status status = take_in(work, item.body); !status.ok()) return status;
  item.fences.reserve(work.fences.size());
  {
    std::lock_guard lock(state_.mutex);
    for (const Point& point : work.fences) {
      std::shared_ptr<Timeline> timeline = state_.find(point);
      if (!timeline) {
        return Status{Code::invalid,
                      "a fence must name a ticket that a live queue of this device "
                      "has returned already"};
      }
      item.fences.push_back({std::move(timeline), point.ticket});
    }
    if (timeline_->issued - timeline_->completed >= limits_.max_open_tickets) {
      return Status{Code::busy, "the queue is full: wait for a completion and submit again"};
    }
    item.ready = steady_now();
    pending_.push_back(std::move(item));
    ++timeline_->issued;
    arrived_.notify_one();
    return timeline_->issued;
  }
} catch (...) {
  return from_exception();
}

Result<std::size_t> HostQueue::reap(std::span<Completion> out) noexcept {
  std::lock_guard lock(state_.mutex);
  std::size_t count = 0;
  for (; count < out.size() && !timeline_->unreaped.empty(); ++count) {
    out[count] = std::move(timeline_->unreaped.front());
    timeline_->unreaped.pop_front();
  }
  return count;
}

Status HostQueue::take_in(const Work& work, Body& out) const {
  return std::visit([&](const auto& body) { return take_in(body, out); }, work.body);
}

Status HostQueue::take_in(const Regions& regions, Body& out) const {
  if (regions.list.size() > limits_.max_regions) {
    return {Code::invalid, std::to_string(regions.list.size()) +
                               " regions in one submission: this device takes at most " +
                               std::to_string(limits_.max_regions)};
  }
  std::vector<Piece> pieces;
  pieces.reserve(regions.list.size());
  for (const Region& region : regions.list) {
    if (Status status = check_span(region.source); !status.ok()) return status;
    if (Status status = check_span(region.destination); !status.ok()) return status;
    if (Status status = check_direction(region); !status.ok()) return status;
    pieces.push_back({address(region.destination), address(region.source), region.source.bytes});
  }
  out = std::move(pieces);
  return {};
}

Status HostQueue::check_direction(const Region& region) const {
  if (region.source.bytes != region.destination.bytes) {
    return {Code::invalid, "a region's source and destination must have equal bytes"};
  }
  const bool from_device = on_device(region.source), to_device = on_device(region.destination);
  if (kind_ == QueueKind::copy_in && (from_device || !to_device)) {
    return {Code::invalid, "a copy_in queue copies from host memory to device memory only"};
  }
  if (kind_ == QueueKind::copy_out && (!from_device || to_device)) {
    return {Code::invalid, "a copy_out queue copies from device memory to host memory only"};
  }
  if (kind_ == QueueKind::host && (from_device || to_device)) {
    return {Code::invalid, "a host queue copies from host memory to host memory only"};
  }
  return {};
}

Status HostQueue::take_in(const Op& op, Body& out) const {
  if (kind_ != QueueKind::compute) {
    return {Code::invalid, "an op runs on a compute queue only"};
  }
  if (Status status = ops_.check(op); !status.ok()) return status;
  out = op;
  return {};
}

Status HostQueue::take_in(const OpRun& run, Body& out) const {
  if (run.ops.empty() || run.times == 0) {
    return {Code::invalid, "a run of ops needs at least one"};
  }
  for (const Op& op : run.ops) {
    if (std::holds_alternative<Gather>(op) || std::holds_alternative<Scatter>(op)) {
      return {Code::invalid, "gather and scatter are no part of a run of ops"};
    }
    Body checked;
    if (Status status = take_in(op, checked); !status.ok()) return status;
  }
  out = Run{{run.ops.begin(), run.ops.end()}, run.times};
  return {};
}

Status HostQueue::take_in(const Fill& fill, Body& out) const {
  if (Status status = check_span(fill.span); !status.ok()) return status;
  out = Set{{address(fill.span), nullptr, fill.span.bytes}, fill.value};
  return {};
}

Status HostQueue::take_in(const Hold& hold, Body& out) const {
  out = hold;
  return {};
}

Status HostQueue::take_in(const Spend&, Body&) const {
  return {Code::unsupported, "a real device spends its own CPU time: Spend is the simulator's"};
}

void HostQueue::run() {
  // A paced lane sleeps for less than the default 50 us: small loads would seem slower.
  if (pacer_) prctl(PR_SET_TIMERSLACK, 1ul, 0ul, 0ul, 0ul);
  std::unique_lock lock(state_.mutex);
  while (true) {
    arrived_.wait(lock, [this] { return draining_ || !pending_.empty(); });
    if (pending_.empty()) return;
    Item item = std::move(pending_.front());
    pending_.pop_front();
    item.ready = std::max(item.ready, other_work_done_);
    Completion completion = execute(item, lock);
    if (!std::holds_alternative<std::vector<Piece>>(item.body)) other_work_done_ = steady_now();
    completion.ticket = timeline_->completed + 1;
    if (!completion.status.ok()) timeline_->failed.append(completion.ticket);
    ++timeline_->completed;
    timeline_->unreaped.push_back(std::move(completion));
    state_.changed.notify_all();
  }
}

Completion HostQueue::execute(Item& item, std::unique_lock<std::mutex>& lock) {
  Completion completion;
  for (const Fence& fence : item.fences) {
    completion.status = await_fence(fence, item, lock);
    if (!completion.status.ok()) return completion;
  }
  Interval interval{steady_now(), {}};
  if (const Hold* gate = std::get_if<Hold>(&item.body)) {
    completion.status = hold(gate->gate, lock);
    if (!completion.status.ok()) return completion;
  } else {
    lock.unlock();
    completion.status = perform(item);
    lock.lock();
  }
  interval.end = steady_now();
  completion.interval = interval;
  return completion;
}

Status HostQueue::await_fence(const Fence& fence, Item& item, std::unique_lock<std::mutex>& lock) {
  const Timeline& other = *fence.timeline;
  if (!other.done(fence.ticket)) {
    timeline_->waits_for = &other;
    state_.changed
        .notify_all();  // a queue that drains may find itself stopped by a gate through us
    state_.changed.wait(
        lock, [&] { return other.done(fence.ticket) || (draining_ && stopped_by_gate(&other)); });
    timeline_->waits_for = nullptr;
    item.ready = steady_now();
  }
  if (!other.done(fence.ticket)) {
    return {Code::aborted, "the queue was closed while this waited behind a closed gate"};
  }
  if (!other.failed.contains(fence.ticket)) return {};
  return {Code::aborted,
          "ticket " + std::to_string(fence.ticket) + ", which this waited for, did not succeed"};
}

Status HostQueue::hold(Gate gate, std::unique_lock<std::mutex>& lock) {
  const auto open = [&] { return state_.open_gates.count(gate) > 0; };
  if (!open()) {
    timeline_->at_closed_gate = true;
    state_.changed.notify_all();
    state_.changed.wait(lock, [&] { return open() || draining_; });
    timeline_->at_closed_gate = false;
  }
  if (open()) return {};
  return {Code::aborted, "the queue was closed before gate " + std::to_string(gate) + " opened"};
}

Status HostQueue::perform(const Item& item) noexcept try {
  const Body& body = item.body;
  if (const Op* op = std::get_if<Op>(&body)) return ops_.run(*op);
  if (const Run* run = std::get_if<Run>(&body)) return perform(*run);
  announce(body);
  if (const auto* pieces = std::get_if<std::vector<Piece>>(&body)) copy(*pieces, item.ready);
  if (const Set* set = std::get_if<Set>(&body)) {
    std::memset(set->target.to, set->value, set->target.bytes);
  }
  announce(body);
  return {};
} catch (...) {
  return from_exception();
}

Status HostQueue::perform(const Run& run) {
  for (std::uint32_t i = 0; i < run.times; ++i) {
    for (const Op& op : run.ops) {
      if (Status status = ops_.run(op); !status.ok()) return status;
    }
  }
  return {};
}

void HostQueue::copy(std::span<const Piece> pieces, Nanos ready) {
  if (!pacer_) return crew_.copy(pieces);
  std::uint64_t bytes = 0;
  for (const Piece& piece : pieces) bytes += piece.bytes;
  const Nanos deadline = pacer_->deadline(ready, steady_now(), bytes);
  crew_.copy(pieces);
  std::this_thread::sleep_until(std::chrono::steady_clock::time_point(deadline));
}

// Twice for each write: what was packed before it is stale, and so is what was packed during it.
void HostQueue::announce(const Body& body) {
  if (const Set* set = std::get_if<Set>(&body)) ops_.written(set->target.to, set->target.bytes);
  if (const auto* pieces = std::get_if<std::vector<Piece>>(&body)) {
    for (const Piece& piece : *pieces) ops_.written(piece.to, piece.bytes);
  }
}

}  // namespace kvroof::host
