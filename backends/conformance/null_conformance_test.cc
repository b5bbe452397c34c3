// SPDX-License-Identifier: Apache-2.0
// The null device keeps the rules; it neither holds nor moves bytes, and claims neither.
#include "backends/conformance/null_device.h"
#include "backends/conformance/suite.h"

namespace kvroof::conformance {
KVROOF_CONFORMANCE(null, make_null_device, rule_checks);
}  // namespace kvroof::conformance
