// SPDX-License-Identifier: Apache-2.0
// Waiting with a deadline that something is to be done about.
#pragma once
#include <cstddef>
#include <span>

#include "backends/api/device.h"

namespace kvroof {

// As Device::wait_any, but virtual time that has no event left is slept through: `stuck` only where
// there is no deadline.
inline Result<std::size_t> wait_or_sleep(Device& device, std::span<const Point> points,
                                         Nanos deadline) {
  auto first = device.wait_any(points, deadline);
  if (first.code() == Code::stuck && deadline < Nanos::max()) {
    first = device.wait_any({}, deadline);
  }
  return first;
}

}  // namespace kvroof
