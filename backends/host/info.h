// SPDX-License-Identifier: Apache-2.0
// What the machine says about itself, as this adapter's DeviceInfo.
#pragma once
#include "backends/api/device.h"

namespace kvroof::host {

// Of the memory available now, less a sixteenth for this process itself, half plays the device's
// and half is the host tier's.
DeviceInfo describe();

// Why the host does not copy by batch.
Status no_batch();

// Worker threads of one copy lane: the cores that this process may use, but no more than few need
// to saturate DRAM.
unsigned copy_workers();

}  // namespace kvroof::host
