// SPDX-License-Identifier: Apache-2.0
// The simulator's refusals as statuses, so that every sentence is written once.
#pragma once
#include <string>

#include "backends/api/status.h"

namespace kvroof::sim {

Status invalid(std::string sentence);
Status unsupported(std::string sentence);
Status no_memory(std::string sentence);
Status aborted(std::string sentence);

}  // namespace kvroof::sim
