// SPDX-License-Identifier: Apache-2.0
// `kvroof devices`: adapters, whether each is ready or why not, and what it offers.
#include <fmt/core.h>

#include <utility>

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

struct Listed {
  std::string spec;  // what --device takes
  DeviceInfo info;
};

// The simulator's devices are the catalogue's profiles.
std::vector<Listed> devices_of(const Adapter& adapter, const AdapterReport& report) {
  std::vector<Listed> devices;
  for (const DeviceInfo& info : report.devices) {
    std::string spec(adapter.name);
    if (spec != "host") spec += fmt::format(":{}", devices.size());
    devices.push_back({std::move(spec), info});
  }
  if (adapter.name != "sim") return devices;
  devices.clear();
  for (const CatalogEntry& profile : device_profiles()) {
    DeviceSpec spec{"sim", std::string(profile.name), {}, std::string(profile.text)};
    if (auto device = adapter.open(spec)) {
      devices.push_back({fmt::format("sim:{}", profile.name), (*device)->info()});
    }
  }
  return devices;
}

Json to_json(const Adapter& adapter, const AdapterReport& report) {
  Json entry{{"adapter", adapter.name}, {"state", name(report.state)}};
  if (!report.reason.empty()) entry["reason"] = report.reason;
  entry["devices"] = Json::array();
  for (const Listed& one : devices_of(adapter, report)) {
    entry["devices"].push_back(device_json(one.info, one.spec));
  }
  return entry;
}

std::string facts_text(const DeviceInfo& info) {
  std::string text =
      fmt::format("{}, {:.1f} GB", name(info.basis), static_cast<double>(info.memory_bytes) / 1e9);
  if (!info.virtual_time) {
    text += ", NUMA node " + (info.numa_node < 0 ? "unknown" : std::to_string(info.numa_node));
  }
  return text + ", link " + link_text(info);
}

void print_text(const Adapter& adapter, const AdapterReport& report) {
  const std::string why = report.reason.empty() ? "" : ": " + report.reason;
  fmt::print("{}\n", wrap(fmt::format("{:<6} {}{}", adapter.name, name(report.state), why), 7));
  for (const Listed& one : devices_of(adapter, report)) {
    fmt::print("       {}\n", wrap(fmt::format("{}: {}", one.spec, one.info.name), 9, 73));
    fmt::print("         {}\n", facts_text(one.info));
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
