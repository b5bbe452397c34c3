// SPDX-License-Identifier: Apache-2.0
// Work that must complete later or never: it is fenced on a hold in a lane of its own, whose gate
// opens in time, or which is closed so that the work is aborted. Any thread may call it.
#pragma once
#include <memory>
#include <mutex>
#include <vector>

#include "backends/api/device.h"

namespace kvroof::faults {

class Delays {
 public:
  // Gates from here on are its own.
  static constexpr Gate kFirstGate = Gate{0xfa17} << 48;
  static constexpr std::size_t kMostAtOnce = 64;  // each may cost a thread

  explicit Delays(Device& device) : device_(device) {}

  // What the delayed work must be fenced on; `busy` where too much is. `until` Nanos::max(): it
  // never ends by itself. `overtaken`: it also ends once a later submission to another queue than
  // `lane` completes.
  Result<Point> begin(const Queue& lane, Nanos until, bool overtaken);

  void submitted(const Queue& lane, Ticket ticket);  // not delayed itself
  void completed(const Queue& lane, Ticket ticket);  // all of the lane up to here

  bool any(const Queue& lane) const;  // of this lane's work
  Nanos next_end() const;             // Nanos::max(): none ends by itself
  void end_due();                     // those whose time has come
  void end_all();                     // all of them, and what never would have ended as aborted
  void forget(const Queue& lane);     // it closes: nothing more completes on it

 private:
  struct Delay {
    std::unique_ptr<Queue> hold;  // the lane of its own
    Gate gate;
    Nanos until;
    const Queue* lane;
    bool overtaken;
    const Queue* overtaker = nullptr;
    Ticket overtaking = 0;
  };

  Result<std::unique_ptr<Queue>> take_queue();
  template <class Pick>
  void end_where(Pick pick);

  Device& device_;
  mutable std::mutex mutex_;
  std::vector<Delay> open_;
  std::vector<std::unique_ptr<Queue>> idle_;  // their gates are open
  Gate next_gate_ = kFirstGate;
};

}  // namespace kvroof::faults
