// SPDX-License-Identifier: Apache-2.0
#include "backends/faults/faults.h"

namespace kvroof {

Fault FaultRates::at(double place) const {
  for (std::size_t fault = 0; fault < kFaults; ++fault) {
    place -= each_[fault];
    if (place < 0) return static_cast<Fault>(fault);
  }
  return Fault::none;
}

}  // namespace kvroof
