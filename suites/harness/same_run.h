// SPDX-License-Identifier: Apache-2.0
// Whether a run may go on where another one ended: what its figures depend on must be the same.
#pragma once
#include <string>

#include "backends/api/status.h"
#include "suites/harness/json.h"

namespace kvroof {

// `left` is the header of `file`, a part's or a finished record's, `asked` that of this run's part.
// `invalid`: one sentence with the first thing that differs and both values. What `left` lacks of
// `part` (a finished record has none) is not compared; neither are times, argv and free memory,
// nor, on virtual time, the machine that the run takes place on.
Status same_run(const Json& left, const Json& asked, const std::string& file);

}  // namespace kvroof
