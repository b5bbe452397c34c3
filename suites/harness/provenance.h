// SPDX-License-Identifier: Apache-2.0
// The device, the model and this build as the record describes them.
#pragma once
#include <string_view>

#include "backends/api/device.h"
#include "kernels/model/model_shape.h"
#include "suites/harness/json.h"

namespace kvroof {

// version, commit ("unknown" outside a git checkout), dirty, build (type, compiler, sanitizers).
Json tool_json();

// `spec`: the device as it was asked for, where it was.
Json device_json(const DeviceInfo& info, std::string_view spec = {});

// `full_layers`: the model's own count where `shape` was cut to fewer layers; 0: it was not.
Json model_json(const ModelShape& shape, std::uint32_t full_layers = 0);

}  // namespace kvroof
