// SPDX-License-Identifier: Apache-2.0
// Reads a small input file that the user named, and nothing else that the name may stand for.
#pragma once
#include <cstdint>
#include <string>

#include "backends/api/status.h"

namespace kvroof {

// `invalid` names the path and says what was expected (`what`, "a model's config.json"): a regular
// file of at most `most_bytes` that can be read.
Result<std::string> read_text_file(const std::string& path, const std::string& what,
                                   std::uint64_t most_bytes);

}  // namespace kvroof
