// SPDX-License-Identifier: Apache-2.0
// The device's time as the seconds that the record has.
#pragma once
#include <chrono>

#include "backends/api/device.h"

namespace kvroof {

inline double seconds(Nanos time) { return std::chrono::duration<double>(time).count(); }

}  // namespace kvroof
