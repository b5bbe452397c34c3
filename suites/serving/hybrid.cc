// SPDX-License-Identifier: Apache-2.0
#include "suites/serving/hybrid.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "suites/harness/seconds.h"
#include "suites/serving/kv_contents.h"

namespace kvroof {
namespace {

constexpr int kMostTrials = 6;

// The cut after `front` of a request's chunks: how long computing those and loading the others
// takes, by rates that every run corrects. Computing goes by FLOPs, loading by chunks.
class Rates {
 public:
  Rates(const Session& session, ChunkRange held)
      : shape_(session.shape), chunk_tokens_(session.chunk_tokens()), chunks_(held.count) {}

  std::uint32_t chunks() const { return chunks_; }

  void saw_front(std::uint32_t front, Nanos took) {
    if (front > 0) seconds_a_flop_ = seconds(took) / flops(front);
  }
  void saw_whole(std::uint32_t tokens, Nanos took) {
    seconds_a_flop_ = seconds(took) / (prefill_flops(shape_, 0, tokens) + head_flops(shape_));
  }
  void saw_load(std::uint32_t front, Nanos took) {
    if (front < chunks_) seconds_a_chunk_ = seconds(took) / (chunks_ - front);
  }

  // The cut whose slower side is fastest.
  std::uint32_t best_front() const {
    std::uint32_t low = 0, high = chunks_;
    while (low < high) {  // the first cut whose front takes longer than its load
      const std::uint32_t middle = (low + high) / 2;
      if (compute(middle) >= load(middle)) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low > 0 && slower(low - 1) <= slower(low) ? low - 1 : low;
  }

 private:
  double flops(std::uint32_t front) const {
    return prefill_flops(shape_, 0, std::uint64_t{front} * chunk_tokens_);
  }
  double compute(std::uint32_t front) const { return seconds_a_flop_ * flops(front); }
  double load(std::uint32_t front) const { return seconds_a_chunk_ * (chunks_ - front); }
  double slower(std::uint32_t front) const { return std::max(compute(front), load(front)); }

  const ModelShape& shape_;
  const std::uint32_t chunk_tokens_, chunks_;
  double seconds_a_flop_ = 0, seconds_a_chunk_ = 0;
};

Result<Restore> try_once(Session& s, const RequestBatch& batch, ChunkRange range,
                         const ServingCost& cost) {
  if (Status e = offer_evicted(s, batch); !e.ok()) return e;
  return restore(s, batch, range, cost);
}

// On a real clock one run says little: the faster of two.
Result<Restore> try_range(Session& s, const RequestBatch& batch, ChunkRange range,
                          const ServingCost& cost) {
  auto best = try_once(s, batch, range, cost);
  if (!best || s.device.info().virtual_time) return best;
  auto again = try_once(s, batch, range, cost);
  if (!again) return again;
  return again->ttft < best->ttft ? again : best;
}

}  // namespace

Result<ChunkRange> find_hybrid_split(Session& s, const RequestBatch& batch, ChunkRange held,
                                     const ServingCost& cost) {
  Rates rates(s, held);
  const std::uint32_t chunks = rates.chunks();
  const auto whole = try_range(s, batch, {}, cost);
  if (!whole) return whole.status();
  const auto loaded = try_range(s, batch, held, cost);
  if (!loaded) return loaded.status();
  rates.saw_whole(batch.context_tokens, whole->ttft);
  rates.saw_load(0, loaded->load_end);
  ChunkRange best = held;
  Nanos fastest = loaded->ttft;
  if (whole->ttft < fastest) {
    best = {};
    fastest = whole->ttft;
  }
  std::set<std::uint32_t> tried;
  for (int trial = 0; trial < kMostTrials; ++trial) {
    const std::uint32_t front = rates.best_front();
    if (front == 0 || front == chunks || !tried.insert(front).second) break;
    const ChunkRange range{front, chunks - front};
    const auto seen = try_range(s, batch, range, cost);
    if (!seen) return seen.status();
    rates.saw_front(front, seen->front_end);
    rates.saw_load(front, seen->load_end);
    if (seen->ttft < fastest) {
      best = range;
      fastest = seen->ttft;
    }
  }
  return best;
}

}  // namespace kvroof
