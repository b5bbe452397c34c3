// SPDX-License-Identifier: Apache-2.0
// With no faults the wrapper is the device that it wraps, and one that is merely slow keeps every
// promise too.
#include "backends/conformance/null_device.h"
#include "backends/conformance/suite.h"
#include "backends/faults/faulty_device.h"
#include "backends/registry/registry.h"
#include "backends/sim/test_profile.h"

namespace kvroof::conformance {
namespace {

std::unique_ptr<Device> wrapped(std::unique_ptr<Device> device, Faults faults = {}) {
  return std::make_unique<FaultyDevice>(std::move(device), std::move(faults));
}

std::unique_ptr<Device> open(std::string_view text, const std::string& profile = {}) {
  DeviceSpec spec = *parse_device(text);
  spec.profile_text = profile;
  return std::move(*open_device(spec));
}

Faults slow() {
  Faults faults;
  for (FaultRates& rates : faults.rates) rates[Fault::late] = rates[Fault::overtaken] = 0.3;
  faults.longest_delay = std::chrono::microseconds(50);
  return faults;
}

std::unique_ptr<Device> null_device() { return wrapped(make_null_device()); }
std::unique_ptr<Device> host() { return wrapped(open("host")); }
std::unique_ptr<Device> sim() { return wrapped(open("sim:test", sim::test_profile())); }
std::unique_ptr<Device> slow_host() { return wrapped(open("host"), slow()); }
std::unique_ptr<Device> slow_sim() {
  return wrapped(open("sim:test", sim::test_profile()), slow());
}

KVROOF_CONFORMANCE(faulty_null, null_device, rule_checks);
KVROOF_CONFORMANCE(faulty_host, host, rule_checks, hold_checks, byte_checks, sum_checks, op_checks,
                   file_checks);
KVROOF_CONFORMANCE(faulty_sim, sim, rule_checks, hold_checks, byte_checks, sum_checks, op_checks,
                   file_checks);
KVROOF_CONFORMANCE(slow_host, slow_host, rule_checks, hold_checks, byte_checks, file_checks);
KVROOF_CONFORMANCE(slow_sim, slow_sim, rule_checks, hold_checks, byte_checks, file_checks);

}  // namespace
}  // namespace kvroof::conformance
