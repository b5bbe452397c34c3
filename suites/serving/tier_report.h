// SPDX-License-Identifier: Apache-2.0
// What a session's host tier really is, beside what was asked for: for the record, and in sentences
// where it is less.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "suites/harness/json.h"
#include "suites/serving/session.h"

namespace kvroof {

// Whole sentences on what a tier lacks beside a cache of so many bytes; empty where it is as asked.
std::vector<std::string> tier_warnings(const SessionSpec& spec, const HostTierFacts& tier,
                                       std::uint64_t cache_bytes);

// A case's `tier` (results/schema/v1.json), over the tiers of all groups of layers. Counts of
// chunks are since the session was made. It has its `warnings` where there are any.
Json tier_json(const Session& session);

}  // namespace kvroof
