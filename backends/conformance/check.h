// SPDX-License-Identifier: Apache-2.0
// One sentence of the seam's contract as a function that throws Broken where a device breaks it.
#pragma once
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace kvroof::conformance {

class Rig;

struct Check {
  std::string_view name;
  void (*run)(Rig&);
};

struct Broken : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline void require(bool holds, const std::string& sentence) {
  if (!holds) throw Broken(sentence);
}

// Groups, so that a device is held to what it claims: the null device keeps the rules alone.
std::span<const Check> rule_checks();   // tickets, fences, reaping, refusals, buffers' facts
std::span<const Check> hold_checks();   // gates, order between lanes, busy, draining
std::span<const Check> byte_checks();   // copies and fills move exactly what they name
std::span<const Check> sum_checks();    // copies sum what they read, where the device says so
std::span<const Check> file_checks();   // disk queues: files, and nothing but the right ones
std::span<const Check> op_checks();     // ops refuse spans that their shapes do not fit
std::span<const Check> row_checks();    // ops that move rows, also where no op computes values
std::span<const Check> value_checks();  // ops write the right values; may start foreign threads

}  // namespace kvroof::conformance
