// SPDX-License-Identifier: Apache-2.0
#include "kernels/prefill/step_plan.h"

#include <algorithm>

namespace kvroof {
namespace {

bool same(const Span& a, const Span& b) {
  return a.buffer == b.buffer && a.offset == b.offset && a.bytes == b.bytes;
}

// `next` goes on where the batch's last row, of `row_bytes`, ends.
bool follows(const SegmentBatch& batch, const SegmentBatch& next, std::uint64_t row_bytes) {
  const Span &table = batch.kv.block_table, &row = next.kv.block_table;
  return next.tokens == batch.tokens && next.past == batch.past &&
         same(next.kv.cache, batch.kv.cache) && row.buffer == table.buffer &&
         row.offset == table.offset + table.bytes && row.bytes == row_bytes &&
         table.bytes == batch.sequences * row_bytes;
}

}  // namespace

std::vector<Step> plan_steps(std::span<const PrefillRequest> requests, std::uint32_t step_tokens) {
  std::vector<Step> steps;
  std::uint32_t used = step_tokens;  // a full step: the first segment opens a new one
  for (std::uint32_t i = 0; i < requests.size(); ++i) {
    for (std::uint32_t done = 0; done < requests[i].tokens;) {
      if (used == step_tokens) {
        steps.emplace_back();
        used = 0;
      }
      const std::uint32_t tokens = std::min(requests[i].tokens - done, step_tokens - used);
      const bool last = done + tokens == requests[i].tokens;
      steps.back().push_back(
          {.request = i, .first = done, .tokens = tokens, .row = used, .last = last});
      used += tokens;
      done += tokens;
    }
  }
  return steps;
}

std::vector<SegmentBatch> batch_segments(const Step& step, std::span<const PrefillRequest> requests,
                                         std::size_t kv_group, std::uint32_t block_tokens) {
  std::vector<SegmentBatch> batches;
  for (const Segment& segment : step) {
    const PrefillRequest& request = requests[segment.request];
    const SegmentBatch own{.row = segment.row,
                           .tokens = segment.tokens,
                           .past = request.past + segment.first,
                           .sequences = 1,
                           .kv = request.kv[kv_group]};
    const std::uint64_t end = std::uint64_t{own.past} + own.tokens;
    const std::uint64_t blocks = (end + block_tokens - 1) / block_tokens;
    if (!batches.empty() && follows(batches.back(), own, blocks * bytes_of(DType::i32))) {
      batches.back().sequences += 1;
      batches.back().kv.block_table.bytes += own.kv.block_table.bytes;
    } else {
      batches.push_back(own);
    }
  }
  return batches;
}

}  // namespace kvroof
