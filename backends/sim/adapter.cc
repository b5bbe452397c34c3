// SPDX-License-Identifier: Apache-2.0
// Opens simulated devices.
#include "backends/sim/adapter.h"

#include <string>
#include <utility>

#include "backends/sim/device.h"
#include "backends/sim/errors.h"
#include "backends/sim/profile.h"

namespace kvroof::sim {
namespace {

Status check(const DeviceSpec& spec) {
  if (!spec.options.empty()) {
    const std::string& key = spec.options.begin()->first;
    return invalid("The simulator has no option '" + key +
                   "': it takes a profile alone, as in sim:h100-sxm.");
  }
  if (spec.selector.find('*') != std::string::npos) {
    return invalid("The simulator runs one device, and '" + spec.selector +
                   "' asks for several; leave the '*' out.");
  }
  if (spec.profile_text.empty()) {
    return invalid("The simulator needs a device profile, as in sim:h100-sxm or sim:profile.json.");
  }
  return {};
}

}  // namespace

AdapterReport probe() { return {}; }

Result<std::unique_ptr<Device>> open(const DeviceSpec& spec) {
  if (Status status = check(spec); !status.ok()) return status;
  Result<Profile> profile = parse_profile(spec.profile_text);
  if (!profile) return profile.status();
  return std::unique_ptr<Device>(
      std::make_unique<SimDevice>(std::move(*profile), spec.profile_text));
}

}  // namespace kvroof::sim
