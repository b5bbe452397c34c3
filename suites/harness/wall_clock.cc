// SPDX-License-Identifier: Apache-2.0
#include "suites/harness/wall_clock.h"

#include <fmt/chrono.h>

#include <chrono>

namespace kvroof {

double monotonic_seconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

std::string utc_now() {
  const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now));
}

}  // namespace kvroof
