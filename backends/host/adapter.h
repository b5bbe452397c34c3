// SPDX-License-Identifier: Apache-2.0
// The host adapter's two entries in the registry.
#pragma once
#include <memory>

#include "backends/api/device.h"
#include "backends/registry/device_spec.h"
#include "backends/registry/registry.h"

namespace kvroof::host {

AdapterReport probe();

// The CPU is one device: selector empty or "0". Any option is `invalid`, since there are none.
Result<std::unique_ptr<Device>> open(const DeviceSpec& spec);

}  // namespace kvroof::host
