// SPDX-License-Identifier: Apache-2.0
// Events of the discrete-event machine. Ties are settled by who started first, so that runs repeat.
#include "backends/sim/machine/machine.h"

#include <algorithm>
#include <cmath>

namespace kvroof::sim {
namespace {

constexpr double kNanosPerSecond = 1e9;

// Rounded up to whole nanoseconds, except for what only rounding put there.
Nanos time_for(double work, double rate) {
  const double nanos = work / rate * kNanosPerSecond;
  return Nanos(static_cast<Nanos::rep>(std::max(0.0, std::ceil(nanos - 1e-3))));
}

}  // namespace

void Machine::at(Nanos when, Sleeper& sleeper) {
  timers_.push({std::max(when, now_), order_++, &sleeper});
}

void Machine::run(const Flow& flow, Sleeper& sleeper) {
  running_.push_back({flow, &sleeper, 0, now_, now_});
  balanced_ = false;
}

Nanos Machine::occupy_cpu(Nanos duration) {
  cpu_free_ = std::max(now_, cpu_free_) + duration;
  return cpu_free_;
}

std::optional<Nanos> Machine::next_event() {
  if (!balanced_) rebalance();
  std::optional<Nanos> next;
  if (!timers_.empty()) next = timers_.top().when;
  for (const Running& each : running_) next = std::min(next.value_or(each.end), each.end);
  return next;
}

void Machine::advance() {
  const std::optional<Nanos> next = next_event();
  if (!next) return;
  now_ = *next;
  for (bool more = true; more;) {
    if (!balanced_) rebalance();
    const bool flows = wake_finished_flows();
    const bool timers = wake_due_timers();
    more = flows || timers;
  }
}

void Machine::idle_until(Nanos when) { now_ = std::max(now_, when); }

// Gives every running flow its fair rate; one whose rate stays keeps its end, to the nanosecond.
void Machine::rebalance() {
  flows_.clear();
  for (const Running& each : running_) flows_.push_back(&each.flow);
  rates_.resize(flows_.size());
  share(flows_, capacity_, rates_);
  for (std::size_t i = 0; i < running_.size(); ++i) {
    Running& each = running_[i];
    if (each.rate == rates_[i] && each.rate > 0) continue;
    const double elapsed = static_cast<double>((now_ - each.since).count()) / kNanosPerSecond;
    each.flow.work = std::max(0.0, each.flow.work - each.rate * elapsed);
    each.since = now_;
    each.rate = rates_[i];
    each.end = now_ + time_for(each.flow.work, each.rate);
  }
  balanced_ = true;
}

bool Machine::wake_finished_flows() {
  woken_.clear();
  std::erase_if(running_, [&](const Running& each) {
    if (each.end > now_) return false;
    woken_.push_back(each.sleeper);
    return true;
  });
  if (woken_.empty()) return false;
  balanced_ = false;
  for (Sleeper* sleeper : woken_) sleeper->wake();
  return true;
}

bool Machine::wake_due_timers() {
  bool any = false;
  while (!timers_.empty() && timers_.top().when <= now_) {
    Sleeper* const sleeper = timers_.top().sleeper;
    timers_.pop();
    sleeper->wake();
    any = true;
  }
  return any;
}

}  // namespace kvroof::sim
