// SPDX-License-Identifier: Apache-2.0
// What makes a time worth reporting, checked outside the timed region: loaded KV equals offloaded
// KV bit for bit, and the logits that follow equal those of a full prefill.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "suites/serving/request_batch.h"
#include "suites/serving/restore.h"
#include "suites/serving/session.h"

namespace kvroof {

struct Verification {
  Status status;      // could not be checked at all
  std::string wrong;  // what differs, as a sentence; empty where all that exists agrees
  ChunkRange held;    // of each request, what the host tier has room for
  std::uint64_t regions_checked = 0;
  // max |loaded - recomputed| / max |recomputed|; empty where the device computes no values.
  std::optional<double> logit_difference;
  std::vector<float> full_logits;  // of a full prefill, request by request; empty as above
  bool not_finite = false;  // a full prefill's logits hold NaN or infinity: both plans are wrong
};

// Bounds on logit_difference: rounding differs between one step of n tokens and of the rest.
double logit_bound(DType dtype);

// Fills the host tier with the batch's chunks (computed, or a pattern where the device computes no
// values), wipes the cache, loads what the tier holds and compares. Afterwards that is in the tier
// or, under store policy on_evict, in the cache.
Verification verify_and_offload(Session& session, const RequestBatch& batch);

// The same for a restore that loads only `loaded`, against the logits that `seen` holds; the larger
// difference stays in `seen`. Nothing where the device computes no values.
void verify_range(Session& session, const RequestBatch& batch, ChunkRange loaded,
                  Verification& seen);

}  // namespace kvroof
