// SPDX-License-Identifier: Apache-2.0
#include "backends/host/queue.h"

#include <sys/prctl.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>
#include <utility>

#include "backends/host/info.h"
#include "backends/host/spans.h"
#include "backends/os/errors.h"
#include "backends/queues/body_check.h"
#include "backends/queues/lane.h"

namespace kvroof::host {
namespace {

Nanos steady_now() {
  return std::chrono::duration_cast<Nanos>(std::chrono::steady_clock::now().time_since_epoch());
}

std::vector<Piece> pieces_of(const Regions& regions) {
  std::vector<Piece> pieces;
  pieces.reserve(regions.list.size());
  auto* sums = reinterpret_cast<std::uint64_t*>(address(regions.sums.out));
  for (const Region& region : regions.list) {
    pieces.push_back({address(region.destination), address(region.source), region.source.bytes,
                      sums, regions.sums.part_bytes});
    if (sums != nullptr) sums += region.source.bytes / regions.sums.part_bytes;
  }
  return pieces;
}

}  // namespace

HostQueue::HostQueue(QueueKind kind, unsigned copy_workers, QueueLimits limits, const void* owner,
                     State& state, Ops& ops, Pacer* pacer)
    : kind_(kind),
      limits_(limits),
      owner_(owner),
      state_(state),
      ops_(ops),
      pacer_(pacer),
      crew_(copy_workers) {
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
  Result<Body> body = take_in(work);
  if (!body) return body.status();
  Item item{.fences = {}, .body = std::move(*body)};
  item.fences.reserve(work.fences.size());
  {
    std::lock_guard lock(state_.mutex);
    for (const Point& point : work.fences) {
      std::shared_ptr<Timeline> timeline = state_.find(point);
      if (!timeline) {
        return queues::unknown_fence();
      }
      item.fences.push_back({std::move(timeline), point.ticket});
    }
    if (timeline_->issued - timeline_->completed >= limits_.max_open_tickets) {
      return queues::full();
    }
    item.ready = steady_now();
    pending_.push_back(std::move(item));
    ++timeline_->issued;
    arrived_.notify_one();
    return timeline_->issued;
  }
} catch (...) {
  return os::from_exception();
}

Result<std::size_t> HostQueue::reap(std::span<Completion> out) noexcept {
  std::lock_guard lock(state_.mutex);
  return queues::hand_over(timeline_->unreaped, out);
}

Result<HostQueue::Body> HostQueue::take_in(const Work& work) const {
  const queues::BodyRules rules{
      .max_regions = limits_.max_regions, .owner = owner_, .sums_copies = true};
  if (Status status = queues::check_body(work, kind_, rules); !status.ok()) {
    return status;
  }
  if (const auto* regions = std::get_if<Regions>(&work.body)) return take_in(*regions);
  if (const auto* fill = std::get_if<Fill>(&work.body)) {
    return Body(Set{{address(fill->span), nullptr, fill->span.bytes}, fill->value});
  }
  if (const auto* hold = std::get_if<Hold>(&work.body)) return Body(*hold);
  if (const auto* op = std::get_if<Op>(&work.body)) {
    if (Status status = ops_.check(*op); !status.ok()) return status;
    return Body(*op);
  }
  if (const auto* run = std::get_if<OpRun>(&work.body)) {
    for (const Op& op : run->ops) {
      if (Status status = ops_.check(op); !status.ok()) return status;
    }
    return Body(Run{{run->ops.begin(), run->ops.end()}, run->times});
  }
  return queues::no_spending();
}

Result<HostQueue::Body> HostQueue::take_in(const Regions& regions) const {
  if (regions.method == CopyMethod::batch) return no_batch();
  return Body(Copies{pieces_of(regions), regions.method == CopyMethod::kernel});
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
    if (!std::holds_alternative<Copies>(item.body)) other_work_done_ = steady_now();
    timeline_->complete(std::move(completion));
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
    state_.changed.wait(lock, [&] {
      return other.done(fence.ticket) || (draining_ && state_.stopped_by_gate(&other));
    });
    timeline_->waits_for = nullptr;
    item.ready = steady_now();
  }
  if (!other.done(fence.ticket)) {
    return queues::closed_behind_gate();
  }
  if (!other.failed.contains(fence.ticket)) return {};
  return queues::failed_before(fence.ticket);
}

Status HostQueue::hold(Gate gate, std::unique_lock<std::mutex>& lock) {
  const auto open = [&] { return state_.open_gates.contains(gate); };
  if (!open()) {
    timeline_->held_at = gate;
    state_.changed.notify_all();
    state_.changed.wait(lock, [&] { return open() || draining_; });
    timeline_->held_at.reset();
  }
  if (open()) return {};
  return queues::closed_before(gate);
}

Status HostQueue::perform(const Item& item) noexcept try {
  const Body& body = item.body;
  if (const Op* op = std::get_if<Op>(&body)) return ops_.run(*op);
  if (const Run* run = std::get_if<Run>(&body)) return perform(*run);
  announce(body);
  if (const auto* copies = std::get_if<Copies>(&body)) copy_paced(*copies, item.ready);
  if (const Set* set = std::get_if<Set>(&body)) {
    std::memset(set->target.to, set->value, set->target.bytes);
  }
  announce(body);
  return {};
} catch (...) {
  return os::from_exception();
}

Status HostQueue::perform(const Run& run) {
  for (std::uint32_t i = 0; i < run.times; ++i) {
    for (const Op& op : run.ops) {
      if (Status status = ops_.run(op); !status.ok()) return status;
    }
  }
  return {};
}

void HostQueue::copy(const Copies& copies) {
  copies.by_compute ? ops_.copy(copies.pieces) : crew_.copy(copies.pieces);
}

void HostQueue::copy_paced(const Copies& copies, Nanos ready) {
  if (!pacer_) return copy(copies);
  std::uint64_t bytes = 0;
  for (const Piece& piece : copies.pieces) bytes += piece.bytes;
  const Nanos deadline = pacer_->deadline(ready, steady_now(), bytes);
  copy(copies);
  std::this_thread::sleep_until(std::chrono::steady_clock::time_point(deadline));
}

// Twice for each write: what was packed before it is stale, and so is what was packed during it.
void HostQueue::announce(const Body& body) {
  if (const Set* set = std::get_if<Set>(&body)) ops_.written(set->target.to, set->target.bytes);
  if (const auto* copies = std::get_if<Copies>(&body)) {
    for (const Piece& piece : copies->pieces) ops_.written(piece.to, piece.bytes);
  }
}

}  // namespace kvroof::host
