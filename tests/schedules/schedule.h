// SPDX-License-Identifier: Apache-2.0
// One schedule: conversations that are served, preempted, resumed and dropped on a simulated device
// with real bytes and faults of every kind, beside a plain model of what each block must hold.
// Whatever goes wrong, the engine may say so, but it must never serve other bytes, never hang and
// never lose a slot.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "backends/faults/faulty_device.h"
#include "tests/schedules/setting.h"

namespace kvroof::schedules {

// What happened, so that a run can show that it tried something.
struct Outcomes {
  std::uint64_t requests = 0, preemptions = 0, cancels = 0, prefetches = 0;
  std::uint64_t blocks_loaded_right = 0;  // read back after a load, and right
  std::uint64_t blocks_computed = 0;
  std::uint64_t chunks_failed = 0, chunks_evicted = 0, chunks_collided = 0, chunks_fetched = 0;
  std::uint64_t lanes_lost = 0, devices_lost = 0, not_created = 0;

  Outcomes& operator+=(const Outcomes& other);
};

struct Verdict {
  std::string wrong;  // empty: nothing
  Outcomes outcomes;
  faults::FaultCounts faults;
};

// Puts something between the schedule and its device, for planted bugs; empty: nothing.
using Plant = std::function<void(Setting&)>;

// `directory`: an empty one, for schedules with a disk tier.
Verdict run_schedule(std::uint64_t seed, const std::string& directory,
                     const Plant& plant = nullptr);

}  // namespace kvroof::schedules
