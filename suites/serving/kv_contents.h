// SPDX-License-Identifier: Apache-2.0
// What a session's KV holds: into the host tier and back, destroyed, made recognisable, and told
// apart.
#pragma once
#include <cstdint>
#include <vector>

#include "suites/serving/request_batch.h"
#include "suites/serving/session.h"

namespace kvroof {

// Offers every request's whole chunks to the host tier until its store policy takes them, and waits
// until they are visible; of those that it has no room for, none.
Status offload(Session& session, const RequestBatch& batch);

// The leading chunks that the host tier, or a disk tier below it, holds of every request. Where it
// holds only some, and some layers have a window, none: those layers' tiers have the window at the
// prefix's end alone.
ChunkRange held_chunks(const Session& session, const RequestBatch& batch);

// Loads these chunks of every request and waits until they have landed.
Status load(Session& session, const RequestBatch& batch, ChunkRange range);

// What a serving engine does before it gives the blocks away: under store policy on_evict it offers
// them, since what was loaded is in the host tier no longer. Nothing under the others.
Status offer_evicted(Session& session, const RequestBatch& batch);

// The same, and the blocks are gone: wipe().
Status evict(Session& session, const RequestBatch& batch);

// Overwrites the cache with 0xFF, NaNs in every float type: KV that was not brought back can't pass
// for KV that was. Nothing where the cache has no contents.
Status wipe(Session& session, const RequestBatch& batch);

// Fills the cache with the pattern of kernels/model, where ops leave no values behind: blocks go by
// their own numbers, layers by their place among all groups'.
Status write_pattern(Session& session);

// One digest a region of the blocks of these chunks, read back from the device.
Result<std::vector<std::uint64_t>> digest(Session& session, const RequestBatch& batch,
                                          ChunkRange range);

}  // namespace kvroof
