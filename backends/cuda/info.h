// SPDX-License-Identifier: Apache-2.0
// The facts of a CUDA device as its driver and the kernel tell them.
#pragma once
#include "backends/api/device.h"
#include "backends/cuda/entry_points.h"

namespace kvroof::cuda {

// With the device's context current.
Result<DeviceInfo> describe(const EntryPoints& entry, DeviceId device);

}  // namespace kvroof::cuda
