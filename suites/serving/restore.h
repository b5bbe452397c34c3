// SPDX-License-Identifier: Apache-2.0
// The two pure plans by which a batch of requests gets its prefix back, timed from submission to
// the first token's logits on the device's clock.
#pragma once
#include <cstdint>
#include <vector>

#include "suites/harness/grid.h"
#include "suites/serving/request_batch.h"
#include "suites/serving/session.h"

namespace kvroof {

struct Restore {
  Nanos ttft{};         // the last request's
  Nanos ttft_median{};  // over the batch
  Nanos load{};         // copy: from the first copy's begin to the last one's end
  // What does not grow with layers: embedding, last norm and head, and the serving engine's CPU
  // time. Of the last request.
  Nanos outside_layers{};
  std::uint64_t bytes_loaded = 0, regions_loaded = 0;
  std::uint32_t chunks_loaded = 0;
  std::uint32_t failed_loads = 0;  // requests whose load failed and that were recomputed instead
};

Result<Restore> recompute(Session& session, const RequestBatch& batch, const ServingCost& cost);

// Loads each request's whole chunks and computes the rest. The chunks must be in the host tier.
Result<Restore> copy(Session& session, const RequestBatch& batch, const ServingCost& cost);

// Puts every request's whole chunks into the host tier and waits until they are visible.
Status offload(Session& session, const RequestBatch& batch);

// Overwrites the cache with 0xFF, NaNs in every float type: KV that was not brought back can't pass
// for KV that was. Nothing where the cache has no contents.
Status wipe(Session& session, const RequestBatch& batch);

}  // namespace kvroof
