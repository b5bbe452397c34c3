// SPDX-License-Identifier: Apache-2.0
// Logits: a small model's, computed from KV that was loaded and from KV that was recomputed. Where
// a device computes no values, the bytes that come back are compared.
#include "suites/serving/request_batch.h"
#include "suites/serving/session.h"
#include "suites/serving/verify.h"
#include "suites/verify/checks.h"

namespace kvroof {
namespace {

constexpr std::uint32_t kTokens = 200, kRequests = 2;  // of which the last 8 fill no chunk

SessionSpec spec_of(const VerifySetup& setup) {
  SessionSpec spec;
  const bool bf16 = setup.device.info().bf16_unavailable.empty();
  spec.dtype = spec.kv_dtype = bf16 ? DType::bf16 : DType::f32;
  spec.blocks_per_chunk = 4;
  spec.blocks = kRequests * (kTokens / spec.block_tokens + 1);
  spec.sequences = spec.restored = kRequests;
  spec.sequence_tokens = kTokens;
  spec.host_tier_bytes = session_layouts(setup.shape, spec).front().cache_bytes();
  spec.seed = setup.seed;
  return spec;
}

Finding compare_logits(const VerifySetup& setup) {
  auto session = Session::create(setup.device, setup.shape, spec_of(setup));
  if (!session) return {.status = session.status(), .wrong = {}};
  auto batch = RequestBatch::create(**session, kTokens, kRequests, setup.seed);
  if (!batch) return {.status = batch.status(), .wrong = {}};
  const Verification seen = verify_and_offload(**session, *batch);
  return {seen.status, seen.wrong, seen.regions_checked};
}

}  // namespace

std::vector<Case> logits(const VerifySetup& setup) {
  return {make_case(setup, "logits", compare_logits(setup), "regions_compared")};
}

}  // namespace kvroof
