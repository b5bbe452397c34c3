// SPDX-License-Identifier: Apache-2.0
// Opens simulated devices.
#include "backends/sim/adapter.h"

#include <string>
#include <utility>

#include "backends/sim/device.h"
#include "backends/sim/errors.h"
#include "backends/sim/link_option.h"
#include "backends/sim/profile.h"

namespace kvroof::sim {
namespace {

constexpr const char* kLink = "link";

Status check(const DeviceSpec& spec) {
  for (const auto& [key, value] : spec.options) {
    if (key == "devices") {
      return invalid("The simulator runs one device, and '*" + value +
                     "' asks for several; leave it out.");
    }
    if (key == kLink) continue;
    return invalid("The simulator has no option '" + key +
                   "': it takes a profile and a link, as in sim:h100-sxm,link=pcie4x16.");
  }
  if (spec.profile_text.empty()) {
    return invalid("The simulator needs a device profile, as in sim:h100-sxm or sim:profile.json.");
  }
  return {};
}

}  // namespace

AdapterReport probe() { return {}; }

Status redraw(Device& device, std::uint64_t seed) {
  auto* const simulated = dynamic_cast<SimDevice*>(&device);
  if (!simulated) return unsupported("Only a simulated device has parameters to draw.");
  return simulated->redraw(seed);
}

Result<std::unique_ptr<Device>> open(const DeviceSpec& spec) {
  if (Status status = check(spec); !status.ok()) return status;
  Result<Profile> profile = parse_profile(spec.profile_text);
  if (!profile) return profile.status();
  std::string text = spec.profile_text;
  if (const auto link = spec.options.find(kLink); link != spec.options.end()) {
    profile = with_link(std::move(*profile), link->second);
    if (!profile) return profile.status();
    text = profile_text_with_link(text, *profile);
  }
  return std::unique_ptr<Device>(std::make_unique<SimDevice>(std::move(*profile), text));
}

}  // namespace kvroof::sim
