// SPDX-License-Identifier: Apache-2.0
// Adapters that compute values, one line each.
#include "backends/conformance/suite.h"
#include "backends/registry/registry.h"

namespace kvroof::conformance {
namespace {

std::unique_ptr<Device> open_host() {
  auto device = open_device(*parse_device("host"));
  if (!device) ADD_FAILURE() << device.status().text;
  return device ? std::move(*device) : nullptr;
}

KVROOF_CONFORMANCE(host, open_host, row_checks, value_checks);

}  // namespace
}  // namespace kvroof::conformance
