// SPDX-License-Identifier: Apache-2.0
// Loads a finished record for commands that read results.
#pragma once
#include <filesystem>

#include "backends/api/status.h"
#include "suites/harness/json.h"

namespace kvroof {

// `invalid` with one sentence that names the file: not readable, not JSON, no record, or a
// schema_version other than kSchemaVersion.
Result<Json> read_record(const std::filesystem::path& file);

}  // namespace kvroof
