// SPDX-License-Identifier: Apache-2.0
// The simulator as an adapter: any device that a profile describes, in virtual time.
#pragma once
#include <memory>

#include "backends/registry/registry.h"

namespace kvroof::sim {

// Always ready, and lists no device: profiles are the caller's.
AdapterReport probe();

// `spec.profile_text` is the profile's JSON. `invalid` names what is wrong with it or the options.
Result<std::unique_ptr<Device>> open(const DeviceSpec& spec);

}  // namespace kvroof::sim
