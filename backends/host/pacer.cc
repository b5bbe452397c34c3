// SPDX-License-Identifier: Apache-2.0
#include "backends/host/pacer.h"

#include <cmath>

namespace kvroof::host {

Nanos Pacer::deadline(Nanos ready, Nanos now, std::uint64_t bytes) {
  const Nanos took(std::llround(static_cast<double>(bytes) / rate_ * 1e9));
  const std::lock_guard lock(mutex_);
  free_ = (ready < free_ ? free_ : now) + took;
  return free_;
}

}  // namespace kvroof::host
