// SPDX-License-Identifier: Apache-2.0
// Every adapter that can run here, one line each. The null device keeps the rules; it neither holds
// nor moves bytes, and claims neither.
#include "backends/conformance/null_device.h"
#include "backends/conformance/suite.h"
#include "backends/registry/registry.h"

namespace kvroof::conformance {
namespace {

std::unique_ptr<Device> open(std::string_view text) {
  auto device = open_device(*parse_device(text));
  if (!device) ADD_FAILURE() << device.status().text;
  return device ? std::move(*device) : nullptr;
}

std::unique_ptr<Device> open_host() { return open("host"); }

KVROOF_CONFORMANCE(null, make_null_device, rule_checks);
KVROOF_CONFORMANCE(host, open_host, rule_checks, hold_checks, byte_checks);

}  // namespace
}  // namespace kvroof::conformance
