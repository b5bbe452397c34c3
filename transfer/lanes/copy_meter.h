// SPDX-License-Identifier: Apache-2.0
// How fast a lane has copied of late, and so how long what is asked of it will take.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include "backends/api/queue.h"

namespace kvroof {

class CopyMeter {
 public:
  // A copy that ended well, in the lane's order. What it cost begins where the one before it ended,
  // or, where it was handed to the device later or waited for something else than its turn (as the
  // first of a transfer may), where it began itself.
  void landed(std::uint64_t bytes, Interval interval, Nanos submitted, bool first) {
    const Nanos since = first ? interval.begin : std::min(submitted, interval.begin);
    const Nanos took = interval.end - std::max(since, last_end_);
    last_end_ = std::max(last_end_, interval.end);
    if (bytes == 0 || took <= Nanos{}) return;
    const double cost = static_cast<double>(took.count()) / static_cast<double>(bytes);
    nanos_per_byte_ =
        nanos_per_byte_ == 0 ? cost : nanos_per_byte_ + kWeight * (cost - nanos_per_byte_);
  }

  // Empty where nothing was ever copied.
  std::optional<Nanos> time_of(std::uint64_t bytes) const {
    if (nanos_per_byte_ == 0) return std::nullopt;
    return Nanos(std::llround(nanos_per_byte_ * static_cast<double>(bytes)));
  }

 private:
  static constexpr double kWeight = 0.125;  // of the newest: about the last 16 copies count

  Nanos last_end_{};
  double nanos_per_byte_ = 0;
};

}  // namespace kvroof
