// SPDX-License-Identifier: Apache-2.0
#include "backends/host/adapter.h"

#include <optional>
#include <string>

#include "backends/host/device.h"
#include "backends/host/info.h"
#include "backends/os/errors.h"
#include "backends/registry/device_spec.h"

namespace kvroof::host {

AdapterReport probe() {
  AdapterReport report;
  report.devices.push_back(describe());
  return report;
}

Result<std::unique_ptr<Device>> open(const DeviceSpec& spec) try {
  std::optional<double> link_rate;
  for (const auto& [key, value] : spec.options) {
    if (key != "link") {
      return Status{Code::invalid, "host has no option '" + key +
                                       "': it takes a paced link, as in host:link=5GB/s"};
    }
    link_rate = parse_rate(value);
    if (!link_rate) {
      return Status{Code::invalid,
                    "Option link: '" + value + "' is no rate; the host paces to one such as 5GB/s"};
    }
  }
  if (!spec.selector.empty() && spec.selector != "0") {
    const bool index = spec.selector.find_first_not_of("0123456789") == std::string::npos;
    return Status{
        index ? Code::unsupported : Code::invalid,
        "this machine has one host device, not \"" + spec.selector + "\": ask for host or host:0"};
  }
  DeviceInfo info = describe();
  if (link_rate) {
    info.basis = Basis::emulated;
    info.name += ", link paced to " + spec.options.at("link");
    info.peaks.link_in = info.peaks.link_out = *link_rate;
  }
  return std::unique_ptr<Device>(std::make_unique<HostDevice>(std::move(info), link_rate));
} catch (...) {
  return os::from_exception();
}

}  // namespace kvroof::host
