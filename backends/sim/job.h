// SPDX-License-Identifier: Apache-2.0
// One ticket from its submission until it lands.
#pragma once
#include <cstdint>
#include <variant>
#include <vector>

#include "backends/api/queue.h"
#include "backends/disk/file_job.h"
#include "backends/sim/price.h"

namespace kvroof::sim {

class SimQueue;

struct Job {
  // What happens to bytes at landing; monostate: nothing does.
  using Landing = std::variant<std::monostate, std::vector<Region>, Fill, Gather, Scatter, Quantise,
                               Dequantise, Checksum, disk::FileJob>;

  Ticket ticket = 0;
  SimQueue* queue = nullptr;
  Price price;
  Landing landing;
  std::variant<std::monostate, Hold, Spend> waits;  // for a gate, or for its turn on the CPU
  Nanos startable{};    // when the submission CPU has served enough of it to start
  Nanos served{};       // when it has served all of it; a Spend: when its CPU time ends
  bool on_cpu = false;  // a Spend that has its place in the CPU's order
  bool doomed = false;  // a fence failed
  std::uint32_t fences_open = 0;
  std::vector<Job*> dependents;  // whose fences name this ticket
  Nanos begin{};
};

}  // namespace kvroof::sim
