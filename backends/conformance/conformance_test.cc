// SPDX-License-Identifier: Apache-2.0
// Every adapter that can run here, one line each. The null device keeps the rules; it neither holds
// nor moves bytes, and claims neither.
#include "backends/conformance/null_device.h"
#include "backends/conformance/suite.h"
#include "backends/registry/registry.h"
#include "backends/sim/test_profile.h"

namespace kvroof::conformance {
namespace {

std::unique_ptr<Device> open(std::string_view text, const std::string& profile = {}) {
  DeviceSpec spec = *parse_device(text);
  spec.profile_text = profile;
  auto device = open_device(spec);
  if (!device) ADD_FAILURE() << device.status().text;
  return device ? std::move(*device) : nullptr;
}

std::unique_ptr<Device> open_host() { return open("host"); }
std::unique_ptr<Device> open_sim() { return open("sim:test", sim::test_profile()); }

KVROOF_CONFORMANCE(null, make_null_device, rule_checks);
KVROOF_CONFORMANCE(host, open_host, rule_checks, hold_checks, byte_checks, op_checks);
KVROOF_CONFORMANCE(sim, open_sim, rule_checks, hold_checks, byte_checks, op_checks);

}  // namespace
}  // namespace kvroof::conformance
