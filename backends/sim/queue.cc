// SPDX-License-Identifier: Apache-2.0
// The life of a ticket: fences, the submission CPU, the machine's resources, landing, reaping.
#include "backends/sim/queue.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "backends/queues/body_check.h"
#include "backends/sim/device.h"
#include "backends/sim/errors.h"
#include "backends/sim/landing.h"

namespace kvroof::sim {
namespace {

Nanos nanos(double seconds) { return Nanos(static_cast<Nanos::rep>(std::ceil(seconds * 1e9))); }
double seconds(Nanos nanos) { return static_cast<double>(nanos.count()) * 1e-9; }

Result<Price> price_of(const Pricer& pricer, const Work& work) {
  if (const auto* op = std::get_if<Op>(&work.body)) return pricer.price(*op);
  if (const auto* run = std::get_if<OpRun>(&work.body)) return pricer.price(*run);
  if (const auto* regions = std::get_if<Regions>(&work.body)) return pricer.price(*regions);
  if (const auto* fill = std::get_if<Fill>(&work.body)) return pricer.price(*fill);
  if (const auto* file = std::get_if<ReadFile>(&work.body)) return pricer.price(*file);
  if (const auto* file = std::get_if<WriteFile>(&work.body)) return pricer.price(*file);
  if (const auto* file = std::get_if<RemoveFile>(&work.body)) return pricer.price(*file);
  return Price{};
}

Status check_fence(const Point& fence, const SimDevice& device) {
  const auto* const queue = dynamic_cast<const SimQueue*>(fence.queue);
  if (queue == nullptr || &queue->device() != &device) {
    return invalid("A fence must name a queue of this device.");
  }
  if (fence.ticket == 0 || fence.ticket > queue->submitted()) {
    return invalid("A fence names ticket " + std::to_string(fence.ticket) +
                   ", which its queue has not returned yet.");
  }
  return {};
}

Status check_work(const Work& work, QueueKind kind, const SimDevice& device) {
  for (const Point& fence : work.fences) {
    if (Status status = check_fence(fence, device); !status.ok()) return status;
  }
  return queues::check_body(work, kind, {.max_regions = kMaxRegions, .owner = &device});
}

}  // namespace

SimQueue::SimQueue(SimDevice& device, QueueKind kind) : device_(device), kind_(kind) {
  const bool disk = kind == QueueKind::disk_read || kind == QueueKind::disk_write;
  if (disk) disk_facts_.engine = "virtual";
}

SimQueue::~SimQueue() {
  const std::lock_guard guard(device_.lock());
  drain();
  device_.forget_queue(*this);
}

Result<Ticket> SimQueue::submit(const Work& work) noexcept {
  const std::lock_guard guard(device_.lock());
  if (Status status = check_work(work, kind_, device_); !status.ok()) return status;
  Result<Price> price = price_of(device_.pricer(), work);
  if (!price) return price.status();
  if (jobs_.size() >= kMaxOpenTickets) {
    return Status{Code::busy, "The queue has all the open tickets that it takes."};
  }
  Job& job = jobs_.emplace_back();
  job.ticket = ++submitted_;
  job.queue = this;
  job.price = *price;
  if (device_.moves_bytes()) job.landing = landing_of(work);
  add_fences(job, work.fences);
  take_cpu(job, work);
  if (state_ == State::idle) begin_head();
  return job.ticket;
}

Result<std::size_t> SimQueue::reap(std::span<Completion> out) noexcept {
  const std::lock_guard guard(device_.lock());
  const std::size_t count = std::min(out.size(), done_.size());
  for (std::size_t i = 0; i < count; ++i) {
    out[i] = std::move(done_.front());
    done_.pop_front();
  }
  return count;
}

DiskFacts SimQueue::disk_facts() const {
  const std::lock_guard guard(device_.lock());
  return disk_facts_;
}

bool SimQueue::failed(Ticket ticket) const {
  return std::binary_search(failed_.begin(), failed_.end(), ticket);
}

Job& SimQueue::open_job(Ticket ticket) { return jobs_[ticket - jobs_.front().ticket]; }

void SimQueue::add_fences(Job& job, std::span<const Point> fences) {
  for (const Point& fence : fences) {
    auto& queue = static_cast<SimQueue&>(*fence.queue);
    if (queue.completed(fence.ticket)) {
      job.doomed = job.doomed || queue.failed(fence.ticket);
    } else {
      queue.open_job(fence.ticket).dependents.push_back(&job);
      ++job.fences_open;
    }
  }
}

// A dma region is a call of its own, so its copy can start once the first is in; a batch or a
// kernel starts when all its descriptors are. A run of ops starts with its first. A Spend takes its
// place at once where nothing precedes it.
void SimQueue::take_cpu(Job& job, const Work& work) {
  const Profile& profile = device_.profile();
  const double call = profile.submit_call.value, region = profile.submit_region.value;
  Machine& machine = device_.machine();
  if (const auto* spend = std::get_if<Spend>(&work.body)) {
    job.waits = *spend;
    const bool next = jobs_.size() == 1 || jobs_[jobs_.size() - 2].on_cpu;
    if (next && job.fences_open == 0 && !job.doomed) begin_spend(job);
    return;
  }
  if (const auto* hold = std::get_if<Hold>(&work.body)) {
    job.waits = *hold;
    return;
  }
  double total = call, first = call;
  if (const auto* regions = std::get_if<Regions>(&work.body);
      regions != nullptr && regions->method != CopyMethod::kernel) {
    total += region * static_cast<double>(regions->list.size());
    first = regions->method == CopyMethod::dma ? std::min(total, call + region) : total;
  } else if (const auto* run = std::get_if<OpRun>(&work.body)) {
    total = call * static_cast<double>(run->ops.size()) * run->times;
  } else {
    first = total;
  }
  job.served = machine.occupy_cpu(nanos(total));
  job.startable = job.served - nanos(total) + nanos(first);
}

void SimQueue::begin_spend(Job& job) {
  const Nanos duration = std::get<Spend>(job.waits).duration;
  job.served = device_.machine().occupy_cpu(duration);
  job.begin = job.served - duration;
  job.on_cpu = true;
}

// Decides what the head does next. Completions only ever happen in wake(), so that submitting and
// opening a gate never complete anything by themselves.
void SimQueue::begin_head() {
  state_ = State::idle;
  if (jobs_.empty()) return;
  Job& job = jobs_.front();
  Machine& machine = device_.machine();
  if (job.fences_open > 0) {
    state_ = State::blocked;
  } else if (job.doomed) {
    state_ = State::aborting;
    machine.at(machine.now(), *this);
  } else if (const auto* hold = std::get_if<Hold>(&job.waits)) {
    state_ = State::holding;
    job.begin = machine.now();
    device_.gate_is_open(hold->gate) ? machine.at(job.begin, *this)
                                     : device_.wait_for_gate(hold->gate, *this);
  } else if (std::holds_alternative<Spend>(job.waits)) {
    state_ = State::running;
    if (!job.on_cpu) begin_spend(job);
    machine.at(job.served, *this);
  } else if (job.startable > machine.now()) {
    state_ = State::submitting;
    machine.at(job.startable, *this);
  } else {
    run_head();
  }
}

// It can't end before the CPU has served the rest of its descriptors.
void SimQueue::run_head() {
  Job& job = jobs_.front();
  Machine& machine = device_.machine();
  state_ = State::running;
  job.begin = machine.now();
  const double unserved = std::max(0.0, seconds(job.served - machine.now()));
  machine.run(flow_of(job.price, std::max(job.price.seconds, unserved)), *this);
}

void SimQueue::wake() {
  if (state_ == State::submitting) {
    run_head();
  } else if (state_ == State::aborting) {
    abort_head("something that it waited for failed.");
  } else {
    complete_head(land(jobs_.front().landing, disk_facts_));
  }
}

void SimQueue::gate_opened() {
  Machine& machine = device_.machine();
  machine.at(machine.now(), *this);
}

void SimQueue::fence_resolved(Job& job) {
  if (--job.fences_open == 0 && state_ == State::blocked && &job == &jobs_.front()) begin_head();
}

void SimQueue::complete_head(Status status) {
  Job job = std::move(jobs_.front());
  jobs_.pop_front();
  const bool ok = status.ok(), ran = status.code != Code::aborted;
  if (!ok) failed_.push_back(job.ticket);
  Completion& done = done_.emplace_back(Completion{job.ticket, std::move(status), std::nullopt});
  if (ran) done.interval = Interval{job.begin, device_.machine().now()};
  begin_head();
  for (Job* dependent : job.dependents) {
    dependent->doomed = dependent->doomed || !ok;
    dependent->queue->fence_resolved(*dependent);
  }
}

void SimQueue::abort_head(const char* why) {
  complete_head(aborted(std::string("The work did not run: ") + why));
}

// Virtual time runs until all is done. What can never happen is aborted: a hold whose gate is
// closed, or work behind a hold of another queue.
void SimQueue::drain() {
  Machine& machine = device_.machine();
  while (!jobs_.empty()) {
    Job& head = jobs_.front();
    if (state_ == State::holding && !device_.gate_is_open(std::get<Hold>(head.waits).gate)) {
      device_.stop_waiting_for_gate(*this);
      abort_head("its queue was closed while its gate was.");
    } else if (machine.next_event()) {
      machine.advance();
    } else {
      device_.forget_dependent(head);
      abort_head("its queue was closed, and what it waited for can never happen.");
    }
  }
}

void SimQueue::forget_dependent(const Job& job) {
  for (Job& each : jobs_) std::erase(each.dependents, &job);
}

}  // namespace kvroof::sim
