// SPDX-License-Identifier: Apache-2.0
// `kvroof devices`: adapters, whether each is ready or why not, and what it offers.
#include <fmt/core.h>

#include "backends/registry/registry.h"
#include "suites/catalog/catalog.h"
#include "suites/command/commands.h"
#include "suites/harness/json.h"
#include "suites/harness/provenance.h"
#include "suites/harness/wrap.h"

namespace kvroof {
namespace {

std::string link_text(const DeviceInfo& info) {
  if (!info.link_now) return "-";
  std::string text = fmt::format("gen{} x{}", info.link_now->generation, info.link_now->width);
  if (info.link_best) {
    text += fmt::format(" (best gen{} x{})", info.link_best->generation, info.link_best->width);
  }
  return text;
}

// The simulator's devices are the catalogue's profiles.
std::vector<DeviceInfo> devices_of(const Adapter& adapter, const AdapterReport& report) {
  if (adapter.name != "sim") return report.devices;
  std::vector<DeviceInfo> devices;
  for (const CatalogEntry& profile : device_profiles()) {
    DeviceSpec spec{"sim", std::string(profile.name), {}, std::string(profile.text)};
    if (auto device = adapter.open(spec)) devices.push_back((*device)->info());
  }
  return devices;
}

Json to_json(const Adapter& adapter, const AdapterReport& report) {
  Json entry{{"adapter", adapter.name}, {"state", name(report.state)}};
  if (!report.reason.empty()) entry["reason"] = report.reason;
  entry["devices"] = Json::array();
  for (const DeviceInfo& info : devices_of(adapter, report)) {
    entry["devices"].push_back(device_json(info));
  }
  return entry;
}

void print_text(const Adapter& adapter, const AdapterReport& report) {
  const std::string why = report.reason.empty() ? "" : ": " + report.reason;
  fmt::print("{}\n", wrap(fmt::format("{:<6} {}{}", adapter.name, name(report.state), why), 7));
  for (const DeviceInfo& info : devices_of(adapter, report)) {
    const std::string node = info.numa_node < 0 ? "unknown" : std::to_string(info.numa_node);
    fmt::print("       {}\n         {}, {:.1f} GB, NUMA node {}, link {}\n", info.name,
               name(info.basis), static_cast<double>(info.memory_bytes) / 1e9, node,
               link_text(info));
  }
}

}  // namespace

int list_devices(const DevicesOptions& options) {
  Json all = Json::array();
  for (const Adapter& adapter : adapters()) {
    const AdapterReport report = adapter.probe();
    if (options.json) {
      all.push_back(to_json(adapter, report));
    } else {
      print_text(adapter, report);
    }
  }
  if (options.json) fmt::print("{}\n", all.dump(2));
  return kDone;
}

}  // namespace kvroof
