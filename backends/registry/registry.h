// SPDX-License-Identifier: Apache-2.0
// Every adapter that this build knows, by name, and how opening a device of it ended.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/api/device.h"
#include "backends/registry/device_spec.h"

namespace kvroof {

enum class AdapterState { ready, unavailable, incompatible };

constexpr std::string_view name(AdapterState state) {
  constexpr std::string_view kNames[] = {"ready", "unavailable", "incompatible"};
  return kNames[static_cast<std::size_t>(state)];
}

struct AdapterReport {
  AdapterState state = AdapterState::ready;
  std::string reason;  // empty when ready; else a sentence
  std::vector<DeviceInfo>
      devices;  // what it offers here; a simulator's profiles are the catalogue's
};

struct Adapter {
  std::string_view name;  // "host"
  AdapterReport (*probe)();
  Result<std::unique_ptr<Device>> (*open)(const DeviceSpec&);
};

// In the order that `kvroof devices` lists them; `null` is not among them.
std::span<const Adapter> adapters();

// `invalid`: no such adapter, option or profile (exit 2). `unsupported`: a named adapter's device
// that this machine or build lacks (exit 3).
Result<std::unique_ptr<Device>> open_device(const DeviceSpec& spec);

// Makes a simulated device draw its profile's parameters between low and high, by `seed`; 0: as
// they are. `unsupported` for a real device, `invalid` while something is open on it.
Status redraw(Device& device, std::uint64_t seed);

}  // namespace kvroof
