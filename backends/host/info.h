// SPDX-License-Identifier: Apache-2.0
// What the machine says about itself, as this adapter's DeviceInfo.
#pragma once
#include "backends/api/device.h"

namespace kvroof::host {

// Memory is what is available now: half of it plays the device's, the other half the host tier's.
DeviceInfo describe();

// Worker threads of one copy lane: the cores that this process may use, but no more than few need
// to saturate DRAM.
unsigned copy_workers();

}  // namespace kvroof::host
