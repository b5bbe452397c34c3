// SPDX-License-Identifier: Apache-2.0
// Plan `hybrid`: the front of each request is recomputed while the back is being loaded.
#pragma once
#include "suites/serving/restore.h"

namespace kvroof {

// Which chunks to load so that the front's computation and the load end together: cut by the two
// rates that the pure plans show, then by what trials of the cut show. Where no trial beats the
// better pure plan, that plan's range: all of `held`, or none. Runs restores; `held`, which begins
// with the first chunk, must be in the host tier, or in the cache under store policy on_evict.
Result<ChunkRange> find_hybrid_split(Session& session, const RequestBatch& batch, ChunkRange held,
                                     const ServingCost& cost);

}  // namespace kvroof
