// SPDX-License-Identifier: Apache-2.0
#include "backends/host/adapter.h"

#include <string>

#include "backends/host/device.h"
#include "backends/host/errors.h"
#include "backends/host/info.h"

namespace kvroof::host {

AdapterReport probe() {
  AdapterReport report;
  report.devices.push_back(describe());
  return report;
}

Result<std::unique_ptr<Device>> open(const DeviceSpec& spec) try {
  if (!spec.options.empty()) {
    return Status{Code::invalid, "host has no option \"" + spec.options.begin()->first +
                                     "\": this build's host takes no options"};
  }
  if (!spec.selector.empty() && spec.selector != "0") {
    const bool index = spec.selector.find_first_not_of("0123456789") == std::string::npos;
    return Status{
        index ? Code::unsupported : Code::invalid,
        "this machine has one host device, not \"" + spec.selector + "\": ask for host or host:0"};
  }
  return std::unique_ptr<Device>(std::make_unique<HostDevice>(describe()));
} catch (...) {
  return from_exception();
}

}  // namespace kvroof::host
