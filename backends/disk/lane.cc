// SPDX-License-Identifier: Apache-2.0
#include "backends/disk/lane.h"

#include <chrono>
#include <utility>

#include "backends/os/errors.h"
#include "backends/queues/body_check.h"
#include "backends/queues/lane.h"

namespace kvroof::disk {
namespace {

Nanos steady_now() {
  return std::chrono::duration_cast<Nanos>(std::chrono::steady_clock::now().time_since_epoch());
}

}  // namespace

DiskQueue::DiskQueue(QueueKind kind, LaneLimits limits, const void* owner, Neighbours& neighbours,
                     Way way)
    : kind_(kind),
      limits_(limits),
      owner_(owner),
      neighbours_(neighbours),
      engine_(make_engine(
          way, [this](const FileJob& job, Status status) { ended(job, std::move(status)); })) {
  {
    const Lock lock(neighbours_.mutex());
    neighbours_.join(*this, timeline_);
  }
  thread_ = std::thread([this] { run(); });
}

DiskQueue::~DiskQueue() {
  {
    const Lock lock(neighbours_.mutex());
    draining_ = true;
    neighbours_.changed();
  }
  arrived_.notify_all();
  thread_.join();
  const Lock lock(neighbours_.mutex());
  neighbours_.leave(*this);
}

Result<Ticket> DiskQueue::submit(const Work& work) noexcept try {
  Result<Body> body = take_in(work);
  if (!body) return body.status();
  const Lock lock(neighbours_.mutex());
  auto fences = find(work.fences);
  if (!fences) return fences.status();
  if (timeline_->issued - timeline_->completed >= limits_.max_open_tickets) return queues::full();
  pending_.push_back({std::move(*fences), std::move(*body)});
  arrived_.notify_one();
  return ++timeline_->issued;
} catch (...) {
  return os::from_exception();
}

Result<std::size_t> DiskQueue::reap(std::span<Completion> out) noexcept {
  const Lock lock(neighbours_.mutex());
  return queues::hand_over(timeline_->unreaped, out);
}

Result<DiskQueue::Body> DiskQueue::take_in(const Work& work) const {
  const queues::BodyRules rules{.max_regions = limits_.max_regions, .owner = owner_};
  if (Status status = queues::check_body(work, kind_, rules); !status.ok()) {
    return status;
  }
  if (const auto* file = std::get_if<ReadFile>(&work.body)) return Body(job_of(*file));
  if (const auto* file = std::get_if<WriteFile>(&work.body)) return Body(job_of(*file));
  if (const auto* file = std::get_if<RemoveFile>(&work.body)) return Body(job_of(*file));
  if (const auto* hold = std::get_if<Hold>(&work.body)) return Body(*hold);
  return Body(Marker{});  // no regions: the check lets nothing else pass
}

Result<std::vector<DiskQueue::Fence>> DiskQueue::find(std::span<const Point> fences) const {
  std::vector<Fence> found;
  found.reserve(fences.size());
  for (const Point& point : fences) {
    auto timeline = neighbours_.find(point);
    if (!timeline) return queues::unknown_fence();
    found.push_back({std::move(timeline), point.ticket});
  }
  return found;
}

void DiskQueue::run() {
  Lock lock(neighbours_.mutex());
  Ticket ticket = 0;
  while (true) {
    arrived_.wait(lock, [this] { return draining_ || !pending_.empty(); });
    if (pending_.empty()) break;
    Item item = std::move(pending_.front());
    pending_.pop_front();
    outcomes_.emplace_back();
    ++ticket;
    const Nanos begin = steady_now();
    Status status = pass(item, lock);
    if (auto* job = std::get_if<FileJob>(&item.body); job != nullptr && status.ok()) {
      job->ticket = ticket;
      start(std::move(*job), lock);
      continue;
    }
    Completion completion{ticket, std::move(status), {}};
    if (completion.status.ok()) completion.interval = Interval{begin, steady_now()};
    complete(ticket, std::move(completion));
  }
  room_.wait(lock, [this] { return under_way_ == 0; });
}

// Fences, and a hold's gate.
Status DiskQueue::pass(const Item& item, Lock& lock) {
  for (const Fence& fence : item.fences) {
    if (Status status = await(fence, lock); !status.ok()) return status;
  }
  const Hold* gate = std::get_if<Hold>(&item.body);
  return gate == nullptr ? Status{} : hold(gate->gate, lock);
}

// While files are under way nothing stops the lane for good, so that it says what it waits for once
// they have ended.
Status DiskQueue::await(const Fence& fence, Lock& lock) {
  const queues::Timeline& other = *fence.timeline;
  neighbours_.wait(lock, [&] {
    if (other.done(fence.ticket)) return true;
    if (under_way_ == 0 && std::exchange(timeline_->waits_for, &other) == nullptr) {
      neighbours_.changed();  // a queue that drains may find itself stopped by a gate through us
    }
    const auto is_open = [&](Gate gate) { return neighbours_.gate_is_open(gate); };
    return draining_ && queues::stopped_by_gate(&other, is_open);
  });
  timeline_->waits_for = nullptr;
  if (!other.done(fence.ticket)) return queues::closed_behind_gate();
  return other.failed.contains(fence.ticket) ? queues::failed_before(fence.ticket) : Status{};
}

Status DiskQueue::hold(Gate gate, Lock& lock) {
  neighbours_.wait(lock, [&] {
    if (neighbours_.gate_is_open(gate)) return true;
    if (under_way_ == 0 && std::exchange(timeline_->held_at, gate) != gate) neighbours_.changed();
    return draining_ && under_way_ == 0;
  });
  timeline_->held_at.reset();
  return neighbours_.gate_is_open(gate) ? Status{} : queues::closed_before(gate);
}

void DiskQueue::start(FileJob job, Lock& lock) {
  room_.wait(lock, [this] { return under_way_ < kDepth; });
  ++under_way_;
  lock.unlock();
  job.begin = steady_now();
  const bool reads = job.act == FileJob::Act::read;
  if (reads) {
    for (const Piece& piece : job.pieces) neighbours_.written(piece.data, piece.bytes);
  }
  engine_->start(std::make_unique<FileJob>(std::move(job)));
  lock.lock();
}

// Twice for each read: what was kept before it is stale, and so is what was kept during it.
void DiskQueue::ended(const FileJob& job, Status status) {
  if (job.act == FileJob::Act::read) {
    for (const Piece& piece : job.pieces) neighbours_.written(piece.data, piece.bytes);
  }
  const Lock lock(neighbours_.mutex());
  --under_way_;
  complete(job.ticket, {job.ticket, std::move(status), Interval{job.begin, steady_now()}});
  room_.notify_one();
}

// In the order of tickets: what is early waits for its turn.
void DiskQueue::complete(Ticket ticket, Completion completion) {
  outcomes_[ticket - timeline_->completed - 1] = std::move(completion);
  for (; !outcomes_.empty() && outcomes_.front(); outcomes_.pop_front()) {
    timeline_->complete(std::move(*outcomes_.front()));
  }
  neighbours_.changed();
}

}  // namespace kvroof::disk
