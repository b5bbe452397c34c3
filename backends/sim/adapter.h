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

// Makes a simulated device draw its profile's parameters between low and high, by `seed`; 0: as
// they are. `unsupported` for any other device, `invalid` while something is open on it.
Status redraw(Device& device, std::uint64_t seed);

}  // namespace kvroof::sim
