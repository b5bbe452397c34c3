// SPDX-License-Identifier: Apache-2.0
// How a batch of requests gets its prefix back: chunks of it are loaded, what is before and after
// them is computed, timed from submission to the first token's logits on the device's clock.
#pragma once
#include <cstdint>

#include "suites/harness/grid.h"
#include "suites/serving/request_batch.h"
#include "suites/serving/session.h"

namespace kvroof {

struct Restore {
  Nanos ttft{};         // the last request's
  Nanos ttft_median{};  // over the batch
  Nanos load{};         // from the first copy's begin to the last one's end
  Nanos load_end{};     // from submission to the last copy's end
  Nanos scheduling{};   // the serving engine's CPU time before the first request is computed
  Nanos front_end{};    // from submission to the end of the last front, what lies before the loads
  // What does not grow with layers: embedding, last norm and head, and the serving engine's CPU
  // time. Of the last request.
  Nanos outside_layers{};
  std::uint64_t bytes_loaded = 0, regions_loaded = 0;
  std::uint32_t chunks_loaded = 0;
  std::uint32_t chunks_from_disk = 0;  // of these, by way of the host tier
  Nanos disk_reading{};                // from the first read asked for to the last one seen to end
  std::uint32_t failed_loads = 0;  // requests whose load failed and that were recomputed instead
  std::uint32_t decode_steps = 0;  // that did nothing but decode
};

// `loaded` must be in the host tier; the rest is computed. Where the batch has live sequences, each
// forward step decodes a token of every one of them as well, and steps that only decode run while
// there is nothing else to compute; the requests arrive as such a step begins.
Result<Restore> restore(Session& session, const RequestBatch& batch, ChunkRange loaded,
                        const ServingCost& cost);

// The two pure plans: nothing is loaded, or every whole chunk is.
Result<Restore> recompute(Session& session, const RequestBatch& batch, const ServingCost& cost);
Result<Restore> copy(Session& session, const RequestBatch& batch, const ServingCost& cost);

}  // namespace kvroof
