// SPDX-License-Identifier: Apache-2.0
// What lanes over a real clock say and do alike.
#pragma once
#include <algorithm>
#include <deque>
#include <span>
#include <string>

#include "backends/api/queue.h"

namespace kvroof::queues {

inline Status unknown_fence() {
  return {Code::invalid,
          "a fence must name a ticket that a live queue of this device has returned already"};
}

inline Status unknown_point() {
  return {Code::invalid, "wait_any needs tickets that live queues of this device have returned"};
}

inline Status endless_sleep() {
  return {Code::invalid, "wait_any without points needs a deadline"};
}

inline Status too_late() {
  return {Code::timeout, "the deadline passed before any of the points completed"};
}

inline Status full() {
  return {Code::busy, "the queue is full: wait for a completion and submit again"};
}

inline Status no_spending() {
  return {Code::unsupported, "a real device spends its own CPU time: Spend is the simulator's"};
}

inline Status failed_before(Ticket ticket) {
  return {Code::aborted,
          "ticket " + std::to_string(ticket) + ", which this waited for, did not succeed"};
}

inline Status closed_behind_gate() {
  return {Code::aborted, "the queue was closed while this waited behind a closed gate"};
}

inline Status closed_before(Gate gate) {
  return {Code::aborted, "the queue was closed before gate " + std::to_string(gate) + " opened"};
}

// As many of the oldest as `out` has room for; returns how many.
inline std::size_t hand_over(std::deque<Completion>& unreaped, std::span<Completion> out) {
  const std::size_t count = std::min(out.size(), unreaped.size());
  const auto end = unreaped.begin() + static_cast<std::ptrdiff_t>(count);
  std::move(unreaped.begin(), end, out.begin());
  unreaped.erase(unreaped.begin(), end);
  return count;
}

}  // namespace kvroof::queues
