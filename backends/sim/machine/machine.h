// SPDX-License-Identifier: Apache-2.0
// The discrete-event machine: a virtual clock, flows that share resources, timers, and one
// submission CPU. It knows nothing of queues or buffers; who waits is a Sleeper.
#pragma once
#include <cstdint>
#include <optional>
#include <queue>
#include <vector>

#include "backends/api/queue.h"
#include "backends/sim/machine/flow.h"

namespace kvroof::sim {

// Woken once for each at() or run() that it was passed to.
class Sleeper {
 public:
  virtual void wake() = 0;

 protected:
  ~Sleeper() = default;
};

class Machine {
 public:
  explicit Machine(const Amounts& capacity) : capacity_(capacity) {}

  Nanos now() const { return now_; }

  // While nothing runs.
  void set_capacity(const Amounts& capacity) { capacity_ = capacity; }

  // Wakes `sleeper` at `when`, which is not in the past.
  void at(Nanos when, Sleeper& sleeper);

  // Wakes `sleeper` when the flow's work is done.
  void run(const Flow& flow, Sleeper& sleeper);

  // Takes the submission CPU, first come first served, and returns when it is done.
  Nanos occupy_cpu(Nanos duration);

  // When the next event happens; empty: nothing is left to happen.
  std::optional<Nanos> next_event();

  // Moves the clock to next_event() and handles everything that happens at that instant.
  void advance();

  // Moves the clock to `when` if that is later; no event may lie before it.
  void idle_until(Nanos when);

 private:
  struct Timer {
    Nanos when;
    std::uint64_t order;
    Sleeper* sleeper;
    bool operator>(const Timer& other) const {
      return when != other.when ? when > other.when : order > other.order;
    }
  };
  struct Running {
    Flow flow;
    Sleeper* sleeper;
    double rate;
    Nanos since, end;  // `flow.work` is what was left at `since`
  };

  void rebalance();
  bool wake_finished_flows();
  bool wake_due_timers();

  Amounts capacity_;
  Nanos now_{0};
  Nanos cpu_free_{0};
  std::uint64_t order_ = 0;
  bool balanced_ = true;
  std::priority_queue<Timer, std::vector<Timer>, std::greater<>> timers_;
  std::vector<Running> running_;  // in the order in which they started
  std::vector<Sleeper*> woken_;
  std::vector<const Flow*> flows_;
  std::vector<double> rates_;
};

}  // namespace kvroof::sim
