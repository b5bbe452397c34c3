// SPDX-License-Identifier: Apache-2.0
// What a session's disk tier really is and did, for the record.
#pragma once
#include "suites/harness/json.h"
#include "suites/serving/session.h"

namespace kvroof {

// `disk` of a case's `tier` (results/schema/v1.json); null where the session has no disk tier.
// Counts are since the session was made.
Json disk_json(const Session& session);

}  // namespace kvroof
