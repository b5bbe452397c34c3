// SPDX-License-Identifier: Apache-2.0
// The only wall clock above the seam: for progress, bounds on sampling, and started / finished.
#pragma once
#include <string>

namespace kvroof {

double monotonic_seconds();  // from an arbitrary start; never goes back
std::string utc_now();       // "2026-01-08T09:30:00Z"

}  // namespace kvroof
