// SPDX-License-Identifier: Apache-2.0
// Opens simulated devices.
#include "backends/sim/adapter.h"

#include <nlohmann/json.hpp>
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

// One of so many equal devices that work in step: its part of the host's memory, of the traffic
// that this bears.
std::string profile_text_with_ranks(std::string_view text, std::uint32_t count) {
  nlohmann::json json = nlohmann::json::parse(text);
  for (const char* shared : {"host_memory", "host_dram"}) {
    for (const char* each : {"value", "low", "high"}) {
      json[shared][each] = json[shared][each].get<double>() / count;
    }
  }
  if (json.contains("disk")) {
    for (const char* rate : {"read", "write"}) {
      for (const char* each : {"value", "low", "high"}) {
        json["disk"][rate][each] = json["disk"][rate][each].get<double>() / count;
      }
    }
  }
  json["name"] = json["name"].get<std::string>() + ", one of " + std::to_string(count);
  return json.dump();
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
  if (spec.ranks > 1) text = profile_text_with_ranks(text, spec.ranks);
  profile =
      parse_profile(text);  // once more: what is changed may bind, and then has a say in basis
  if (!profile) return profile.status();
  return std::unique_ptr<Device>(std::make_unique<SimDevice>(std::move(*profile), text));
}

}  // namespace kvroof::sim
