// SPDX-License-Identifier: Apache-2.0
// What a FaultyDevice does wrong: which submissions meet which fault, chosen by a function or drawn
// by a seed.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "backends/api/queue.h"

namespace kvroof {

enum class Fault : std::uint8_t {
  none,
  // The submission is refused.
  busy,     // where something is open on the queue, until a completion of it is seen
  refused,  // `failed`
  // It completes as `failed`, and what is fenced on it as `aborted`.
  failed,     // having moved nothing
  cut_short,  // having moved the first part alone
  garbled,    // having written something else
  // It completes well, but not when it would.
  late,       // up to longest_delay later
  overtaken,  // after a later submission to another queue was seen complete, or longest_delay
  unending,   // never: not before a queue with open tickets is closed, and then as `aborted`
  // The device is gone, and this submission is the first to hear of it.
  lost,
  // It completes as ok, which only looking at the bytes can tell.
  silent_nothing,
  silent_short,
  silent_garbled,
};

constexpr std::string_view kFaultNames[] = {
    "none",      "busy",     "refused", "failed",         "cut_short",    "garbled",       "late",
    "overtaken", "unending", "lost",    "silent_nothing", "silent_short", "silent_garbled"};
constexpr std::size_t kFaults = std::size(kFaultNames);
static_assert(kFaults == static_cast<std::size_t>(Fault::silent_garbled) + 1);

constexpr std::string_view name(Fault fault) {
  return kFaultNames[static_cast<std::size_t>(fault)];
}

constexpr std::size_t kQueueKinds = static_cast<std::size_t>(QueueKind::host) + 1;

// The probability of each fault, a submission; what is left of 1 is none.
class FaultRates {
 public:
  double& operator[](Fault fault) { return each_[static_cast<std::size_t>(fault)]; }
  // The fault at `place` of [0, 1).
  Fault at(double place) const;

 private:
  std::array<double, kFaults> each_{};
};

using FaultOf = std::function<Fault(QueueKind, Ticket)>;

// Of a submission's fault the first of fails, fails_op, fault_of and rates decides that names one.
struct Faults {
  std::function<bool(QueueKind, Ticket)> fails = nullptr;  // true: Fault::failed
  std::function<bool(const Op&)> fails_op = nullptr;       // the same, by what is asked for
  // Of queues that copy or move rows; 0: the device's own.
  std::uint64_t max_regions = 0, max_open_tickets = 0;
  std::optional<Point> copies_behind = {};   // what copies wait for besides their fences
  bool pageable = false;                     // pinned memory turns out not to be
  std::uint64_t max_registration_bytes = 0;  // what is larger turns out not to be
  int numa_node = -1;  // where the device says that it is; -1: where its own is

  // Planted: no device may break these promises of the seam. To see that checks notice.
  bool unfenced_in = false, unfenced_out = false;  // copies of a direction ignore their fences
  // And so do gather and quantise; scatter and dequantise.
  bool unfenced_gather = false, unfenced_scatter = false;
  // Queues that copy or move rows hand work back before it landed.
  bool lands_early = false;
  bool hides_failures = false;    // failed work is handed back as ok
  bool ends_open_copies = false;  // late ones are handed back, as failed, at once

  FaultOf fault_of = nullptr;
  std::uint64_t seed = 0;  // of all that is drawn; the same calls meet the same faults
  std::array<FaultRates, kQueueKinds> rates{};  // by QueueKind
  double no_memory = 0, no_queue = 0;           // probabilities that allocate, open_queue refuse
  Nanos longest_delay{1'000'000};
};

inline FaultRates& rates_of(Faults& faults, QueueKind kind) {
  return faults.rates[static_cast<std::size_t>(kind)];
}

}  // namespace kvroof
