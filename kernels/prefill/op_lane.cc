// SPDX-License-Identifier: Apache-2.0
#include "kernels/prefill/op_lane.h"

#include <algorithm>
#include <array>

namespace kvroof {
namespace {

constexpr std::size_t kRemembered = 4096;
constexpr std::uint8_t kSeveral = std::variant_size_v<Op>;  // a run, which is no op

}  // namespace

void OpLane::remember_end_of_last() {
  if (!tags_.empty()) tags_.back().remember_end = true;
}

Nanos OpLane::end_of(Ticket remembered) const {
  const auto it = ends_.find(remembered);
  return it == ends_.end() ? Nanos{} : it->second;
}

void OpLane::begin_batch() {
  batch_first_ = last_ + 1;
  times_ = {};
}

Status OpLane::submit(const Op& op, std::span<const Point> fences, const WaitUntil& wait,
                      bool outside_layers) {
  return enqueue({fences, op}, wait,
                 {static_cast<std::uint8_t>(op.index()), outside_layers, false});
}

Status OpLane::submit(const OpRun& run, std::span<const Point> fences, const WaitUntil& wait,
                      bool outside_layers) {
  return enqueue({fences, run}, wait, {kSeveral, outside_layers, false});
}

Status OpLane::enqueue(const Work& work, const WaitUntil& wait, Tag tag) {
  for (;;) {
    auto ticket = queue_->submit(work);
    if (ticket) {
      last_ = *ticket;
      tags_.push_back(tag);
      return {};
    }
    if (ticket.code() != Code::busy) return ticket.status();
    const Ticket oldest = reaped_ + 1;
    Status waited = wait ? wait({queue_.get(), oldest}) : wait_for(oldest);
    if (!waited.ok()) return waited;
    if (Status status = reap(); !status.ok()) return status;
  }
}

Status OpLane::finish(Ticket ticket) {
  if (ticket <= reported_) return last_report_;
  if (Status status = wait_for(ticket); !status.ok()) return status;
  if (Status status = reap(); !status.ok()) return status;
  const auto later = std::find_if(failures_.begin(), failures_.end(),
                                  [&](const Completion& c) { return c.ticket > ticket; });
  last_report_ = later == failures_.begin() ? Status{} : failures_.front().status;
  failures_.erase(failures_.begin(), later);
  reported_ = ticket;
  return last_report_;
}

Status OpLane::settle() { return last_ == 0 ? Status{} : wait_for(last_); }

Status OpLane::wait_for(Ticket ticket) {
  const Point point{queue_.get(), ticket};
  return device_.wait_any({&point, 1}, Nanos::max()).status();
}

Status OpLane::reap() {
  std::array<Completion, 64> done;
  for (;;) {
    const auto count = queue_->reap(done);
    if (!count) return count.status();
    for (std::size_t i = 0; i < *count; ++i) take(done[i]);
    if (*count < done.size()) return {};
  }
}

void OpLane::take(const Completion& done) {
  reaped_ = done.ticket;
  if (!done.status.ok()) failures_.push_back(done);
  if (done.ticket >= batch_first_ && done.interval) add_time(done);
  if (tags_.front().remember_end && done.interval) ends_[done.ticket] = done.interval->end;
  if (ends_.size() > kRemembered) ends_.erase(ends_.begin());
  tags_.pop_front();
}

void OpLane::add_time(const Completion& done) {
  const Tag tag = tags_.front();
  const Nanos spent = done.interval->end - done.interval->begin;
  if (times_.end == Nanos{}) times_.begin = done.interval->begin;
  times_.end = done.interval->end;
  if (tag.op != kSeveral) times_.by_op[tag.op] += spent;
  if (tag.outside_layers) times_.outside_layers += spent;
}

}  // namespace kvroof
