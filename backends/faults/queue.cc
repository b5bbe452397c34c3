// SPDX-License-Identifier: Apache-2.0
#include "backends/faults/queue.h"

#include <algorithm>
#include <string>
#include <utility>

#include "backends/faults/damage.h"
#include "backends/faults/draws.h"
#include "backends/faults/faulty_device.h"
#include "backends/queues/lane.h"

namespace kvroof::faults {
namespace {

template <class Body>
bool is_op(const Work& work) {
  const auto* op = std::get_if<Op>(&work.body);
  return op != nullptr && std::holds_alternative<Body>(*op);
}

// Out of the cache, and into it.
bool takes_rows(const Work& work) { return is_op<Gather>(work) || is_op<Quantise>(work); }
bool puts_rows(const Work& work) { return is_op<Scatter>(work) || is_op<Dequantise>(work); }

}  // namespace

FaultyQueue::FaultyQueue(FaultyDevice& device, std::unique_ptr<Queue> inner, std::uint64_t number)
    : device_(device), inner_(std::move(inner)), number_(number) {}

// What is open ends before the queue inside drains: that would wait for ever.
FaultyQueue::~FaultyQueue() {
  if (reaped_ < submitted_) device_.delays().end_all();
  device_.delays().forget(*this);
  inner_.reset();
  device_.queue_closed();
}

Result<Ticket> FaultyQueue::submit(const Work& work) noexcept {
  if (device_.is_lost()) return device_.gone();
  const std::uint64_t number = draw(device_.faults.seed, number_, ++attempts_);
  moves_kv_ = moves_kv_ || is_copy() || takes_rows(work) || puts_rows(work);
  Fault fault = device_.fault_of(kind(), submitted_ + 1, work, number);
  if (Status status = refusal(work, fault); !status.ok()) return status;
  if (fault == Fault::busy) fault = Fault::none;  // nothing is open, so that nothing could clear it
  const Result<Ticket> ticket = enqueue(work, fault, mix(number));
  if (!ticket.ok()) return ticket;
  submitted_ = *ticket;
  device_.delays().submitted(*this, submitted_);
  return ticket;
}

Status FaultyQueue::refusal(const Work& work, Fault fault) {
  const Faults& faults = device_.faults;
  const auto* copy = std::get_if<Regions>(&work.body);
  if (copy != nullptr && copy->list.size() > device_.info().max_regions) {
    return {Code::invalid, "A submission of this device takes at most " +
                               std::to_string(device_.info().max_regions) +
                               " regions, and this has " + std::to_string(copy->list.size()) + "."};
  }
  if (copy != nullptr && copy->sums.out.buffer != nullptr) {
    return {Code::unsupported, "Copies of a device with faults take no sums."};
  }
  const std::uint64_t open = submitted_ - reaped_;
  if (moves_kv_ && faults.max_open_tickets > 0 && open >= faults.max_open_tickets) {
    return queues::full();
  }
  if (fault == Fault::busy && open > 0) {
    busy_ = true;
    device_.count(fault);
  }
  if (busy_) return queues::full();
  if (fault == Fault::refused) {
    device_.count(fault);
    return {Code::failed, "The submission was refused, as an injected fault says."};
  }
  if (fault == Fault::lost) {
    device_.lose();
    return device_.gone();
  }
  return {};
}

Result<Ticket> FaultyQueue::enqueue(const Work& work, Fault fault, std::uint64_t draw) {
  std::vector<Point> fences;
  if (Status status = gather_fences(work, fences); !status.ok()) return status;
  Status fate = fate_of(work, fault);
  if (fate.code == Code::aborted) fault = Fault::failed;
  if (fault == Fault::late || fault == Fault::overtaken || fault == Fault::unending) {
    const auto point = device_.delay(*this, fault, draw);
    if (point.ok()) fences.push_back(*point);
    if (!point.ok()) fault = Fault::none;
  }
  if (const auto* hold = std::get_if<Hold>(&work.body)) device_.holds_at(hold->gate);
  Damage damage(fault, draw);
  const Work changed{.fences = fences, .body = damages(fault) ? damage.body(work.body) : work.body};
  const Result<Ticket> ticket = inner_->submit(changed);
  if (!ticket.ok()) return ticket;
  if (fate.code != Code::aborted) device_.count(fault);
  if (fate.ok()) return ticket;
  fates_.emplace(*ticket, std::move(fate));
  const std::lock_guard guard(bad_lock_);
  bad_.append(*ticket);
  return ticket;
}

Status FaultyQueue::gather_fences(const Work& work, std::vector<Point>& fences) const {
  if (is_copy() && device_.faults.copies_behind) {
    fences.push_back(unwrapped(*device_.faults.copies_behind));
  }
  if (ignores_fences(work)) return {};
  for (const Point& fence : work.fences) {
    fences.push_back(unwrapped(fence));
    if (fences.back().queue == nullptr) return queues::unknown_fence();
  }
  return {};
}

// How it ends as far as that is known by now: the queue inside knows of no injected failure.
Status FaultyQueue::fate_of(const Work& work, Fault fault) const {
  const auto fences = ignores_fences(work) ? std::span<const Point>() : work.fences;
  for (const Point& fence : fences) {
    if (static_cast<const FaultyQueue*>(fence.queue)->is_bad(fence.ticket)) {
      return queues::failed_before(fence.ticket);
    }
  }
  if (damages(fault) && fault < Fault::silent_nothing) {
    return {Code::failed, "The work failed (" + std::string(name(fault)) +
                              "), as an injected fault says; what it writes is undefined."};
  }
  return {};
}

bool FaultyQueue::is_bad(Ticket ticket) const {
  const std::lock_guard guard(bad_lock_);
  return bad_.contains(ticket);
}

bool FaultyQueue::ignores_fences(const Work& work) const {
  const Faults& faults = device_.faults;
  return (kind() == QueueKind::copy_in && faults.unfenced_in) ||
         (kind() == QueueKind::copy_out && faults.unfenced_out) ||
         (takes_rows(work) && faults.unfenced_gather) ||
         (puts_rows(work) && faults.unfenced_scatter);
}

Result<std::size_t> FaultyQueue::reap(std::span<Completion> out) noexcept {
  device_.delays().end_due();
  if (device_.faults.lands_early && moves_kv_) return hand_back_open(out, {});
  const auto count = inner_->reap(out);
  if (!count.ok()) return count;
  const std::size_t fresh = take_in(out.first(*count));
  if (fresh > 0) seen_complete(reaped_);
  if (!device_.faults.ends_open_copies || !is_copy() || !device_.delays().any(*this)) return fresh;
  return fresh + hand_back_open(out.subspan(fresh), {Code::failed, "A late copy was given up."});
}

// Leaves out what was handed back while it was open; returns how many are left, in front.
std::size_t FaultyQueue::take_in(std::span<Completion> completions) {
  std::size_t fresh = 0;
  for (Completion& completion : completions) {
    amend(completion);
    if (completion.ticket <= reaped_) continue;
    reaped_ = completion.ticket;
    if (&completions[fresh] != &completion) completions[fresh] = std::move(completion);
    ++fresh;
  }
  return fresh;
}

// Planted: as many as fit.
std::size_t FaultyQueue::hand_back_open(std::span<Completion> out, const Status& status) {
  const std::size_t count = std::min<std::uint64_t>(out.size(), submitted_ - reaped_);
  for (std::size_t i = 0; i < count; ++i) out[i] = {++reaped_, status, std::nullopt};
  return count;
}

void FaultyQueue::amend(Completion& completion) {
  const auto fate = fates_.find(completion.ticket);
  if (fate != fates_.end()) {
    if (completion.status.ok()) completion.status = std::move(fate->second);
    fates_.erase(fate);
  }
  if (device_.is_lost()) completion.status = device_.gone();
  if (device_.faults.hides_failures) completion.status = {};
  if (completion.status.code == Code::aborted) completion.interval.reset();
}

void FaultyQueue::seen_complete(Ticket ticket) {
  busy_ = false;
  device_.delays().completed(*this, ticket);
}

Point FaultyQueue::unwrapped(const Point& point) {
  auto* const queue = dynamic_cast<FaultyQueue*>(point.queue);
  return {queue == nullptr ? nullptr : queue->inner_.get(), point.ticket};
}

}  // namespace kvroof::faults
