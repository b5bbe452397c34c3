// SPDX-License-Identifier: Apache-2.0
#include "backends/registry/registry.h"

#include <algorithm>

#include "backends/host/adapter.h"
#include "backends/sim/adapter.h"

namespace kvroof {
namespace {

// Adapters that users may name and this build does not contain: name, and what they would open.
struct Absent {
  std::string_view name, devices;
};
constexpr Absent kAbsent[] = {
    {"cuda", "NVIDIA GPUs"},
    {"rocm", "AMD GPUs"},
    {"xpu", "Intel GPUs"},
};

std::string absence(const Absent& absent) {
  return "This build contains no " + std::string(absent.name) + " adapter, so it opens no " +
         std::string(absent.devices) + "; `kvroof devices` lists what it opens.";
}

template <std::size_t kRow>
AdapterReport probe_absent() {
  return {AdapterState::unavailable, absence(kAbsent[kRow]), {}};
}

bool is_index(std::string_view text) {
  return text.find_first_not_of("0123456789") == std::string_view::npos;
}

template <std::size_t kRow>
Result<std::unique_ptr<Device>> open_absent(const DeviceSpec& spec) {
  const std::string name(kAbsent[kRow].name);
  if (!is_index(spec.selector)) {
    return Status{Code::invalid, "A " + name + " device is named by its index, such as " + name +
                                     ":0, and not '" + spec.selector + "'."};
  }
  if (!spec.options.empty()) {
    return Status{Code::invalid, "A " + name + " device has no option '" +
                                     spec.options.begin()->first + "'; name it as " + name + ":0."};
  }
  return Status{Code::unsupported, absence(kAbsent[kRow])};
}

constexpr Adapter kAdapters[] = {
    {"host", &host::probe, &host::open},
    {"sim", &sim::probe, &sim::open},
    {kAbsent[0].name, &probe_absent<0>, &open_absent<0>},
    {kAbsent[1].name, &probe_absent<1>, &open_absent<1>},
    {kAbsent[2].name, &probe_absent<2>, &open_absent<2>},
};

std::string known_names() {
  std::string names;
  for (const Adapter& adapter : kAdapters) {
    if (!names.empty()) names += ", ";
    names += adapter.name;
  }
  return names;
}

}  // namespace

std::span<const Adapter> adapters() { return kAdapters; }

Result<std::unique_ptr<Device>> open_device(const DeviceSpec& spec) {
  const auto found = std::find_if(std::begin(kAdapters), std::end(kAdapters),
                                  [&](const Adapter& a) { return a.name == spec.adapter; });
  if (found != std::end(kAdapters)) return found->open(spec);
  return Status{Code::invalid, "There is no adapter '" + spec.adapter +
                                   "'; a device's name begins with one of " + known_names() + "."};
}

Status redraw(Device& device, std::uint64_t seed) { return sim::redraw(device, seed); }

}  // namespace kvroof
