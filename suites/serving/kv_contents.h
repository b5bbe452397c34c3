// SPDX-License-Identifier: Apache-2.0
// What a session's KV holds: into the host tier and back, destroyed, made recognisable, and told
// apart.
#pragma once
#include <cstdint>
#include <vector>

#include "suites/serving/request_batch.h"
#include "suites/serving/session.h"

namespace kvroof {

// Puts every request's whole chunks into the host tier and waits until they are visible.
Status offload(Session& session, const RequestBatch& batch);

// Loads every request's whole chunks and waits until they have landed.
Status load(Session& session, const RequestBatch& batch);

// Overwrites the cache with 0xFF, NaNs in every float type: KV that was not brought back can't pass
// for KV that was. Nothing where the cache has no contents.
Status wipe(Session& session, const RequestBatch& batch);

// Fills the cache with the pattern of kernels/model, where ops leave no values behind: blocks go by
// their own numbers, layers by their place among all groups'.
Status write_pattern(Session& session);

// One digest a region of the blocks that were loaded, read back from the device.
Result<std::vector<std::uint64_t>> digest(Session& session, const RequestBatch& batch);

}  // namespace kvroof
