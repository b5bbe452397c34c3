// SPDX-License-Identifier: Apache-2.0
// One schedule: conversations that are served, preempted, resumed and dropped on a simulated device
// with real bytes and faults of every kind, beside a plain model of what each block must hold.
// Whatever goes wrong, the engine may say so, but it must never serve other bytes, never hang and
// never lose a slot.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>

#include "backends/faults/faulty_device.h"
#include "tests/schedules/setting.h"

namespace kvroof::schedules {

// What happened, so that a run can show that it tried something.
enum class Outcome : std::uint8_t {
  requests,
  preemptions,
  blocks_loaded_right,  // read back after a load, and right
  blocks_computed,
  chunks_failed,
  chunks_evicted,
  collisions,
  chunks_fetched,
  cancels,
  lanes_lost,
  devices_lost,
  not_created,
};
constexpr std::string_view kOutcomeNames[] = {"requests served",
                                              "preemptions",
                                              "blocks loaded, and right",
                                              "blocks computed",
                                              "chunks failed",
                                              "chunks evicted",
                                              "collisions seen",
                                              "chunks from disk",
                                              "transfers cancelled",
                                              "schedules that lost a lane",
                                              "schedules that lost a device",
                                              "engines not created"};
constexpr std::size_t kOutcomes = std::size(kOutcomeNames);
static_assert(kOutcomes == static_cast<std::size_t>(Outcome::not_created) + 1);

// How often, by Outcome.
class Outcomes {
 public:
  std::uint64_t& operator[](Outcome outcome) { return each_[static_cast<std::size_t>(outcome)]; }
  const std::array<std::uint64_t, kOutcomes>& all() const { return each_; }
  Outcomes& operator+=(const Outcomes& other) {
    for (std::size_t i = 0; i < kOutcomes; ++i) each_[i] += other.each_[i];
    return *this;
  }

 private:
  std::array<std::uint64_t, kOutcomes> each_{};
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
