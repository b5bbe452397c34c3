// SPDX-License-Identifier: Apache-2.0
// A record's JSON back to types.
#pragma once
#include "backends/api/status.h"
#include "suites/harness/record.h"

namespace kvroof {

// What to_json(Case) made; `invalid` names what is missing or of another kind. Keys that a case
// does not have are passed over.
Result<Case> parse_case(const Json& json);

// The same of to_json(Metric).
Result<Metric> parse_metric(const Json& json);

Result<Basis> parse_basis(const Json& json);

}  // namespace kvroof
