// SPDX-License-Identifier: Apache-2.0
// A device that completes everything at once and moves nothing: what is left is the caller's own
// cost. It keeps the seam's rules on tickets, fences, spans and reaping; holds never hold on it.
#pragma once
#include <memory>

#include "backends/api/device.h"

namespace kvroof {

// Memory is reserved, not touched, so a host tier of any size costs nothing until it is written.
std::unique_ptr<Device> make_null_device();

}  // namespace kvroof
