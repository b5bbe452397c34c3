// SPDX-License-Identifier: Apache-2.0
// One forward step as ops: the only place that knows what a Llama-like layer computes.
#pragma once
#include <span>
#include <utility>
#include <vector>

#include "kernels/prefill/memory_plan.h"
#include "kernels/prefill/op_lane.h"
#include "kernels/prefill/step_plan.h"

namespace kvroof {

// What a step waits for before it begins, and what each layer's attention does.
struct StepOrder {
  std::span<const Point> fences;
  const FencesOfLayer& of_layer;  // may be empty
};

class Forward {
 public:
  // `priced`: the device computes no values, so that layers which cost the same are one piece of
  // work.
  Forward(const PrefillConfig& config, Buffer& weights, Buffer& activations, bool priced);

  Status run(const Step& step, std::span<const PrefillRequest> requests, const StepOrder& order,
             const WaitUntil& wait, OpLane& lane) const;

 private:
  struct Pass;  // one run's step, requests, order, wait and lane

  Status embed(Pass& pass) const;
  Status layers(Pass& pass) const;
  Status alike_layers(Pass& pass) const;
  Status layer(Pass& pass, std::uint32_t index) const;
  Status attend(Pass& pass, std::uint32_t index) const;
  Status attend_latents(Pass& pass, std::uint32_t index) const;
  Status feed_forward(Pass& pass, std::uint32_t index) const;
  Status dense(Pass& pass, const LayerWeights& weights, std::uint32_t width) const;
  Status experts(Pass& pass, const LayerWeights& weights) const;
  // What follows attention and feed-forward: the ranks' sum, and a norm where the model has one.
  Status join(Pass& pass, const Extent& out_norm) const;
  Status logits(Pass& pass) const;

  // The step's sequences as this layer's attention takes them, and where it keeps their KV.
  std::vector<SegmentBatch> batches(const Pass& pass, std::uint32_t layer) const;
  PagedKv paged(const KvSpans& spans, std::uint32_t layer) const;
  Span weight(const Extent& extent) const { return {&weights_, extent.offset, extent.bytes}; }
  Span rows(const Extent& extent, std::uint64_t width, std::uint32_t first,
            std::uint32_t count) const;

  Op gemm(Span a, const Extent& b, Span c, std::uint32_t m, std::uint32_t n, std::uint32_t k) const;
  Op norm(Span x, Span residual, const Extent& weight, Span out, std::uint32_t tokens,
          std::uint32_t width) const;

  const ModelShape shape_;
  const bool priced_;
  const DType dtype_;
  const std::vector<KvLayout> kv_;
  const std::vector<KvPlace> kv_places_;
  const WeightPlan weight_plan_;
  const ActivationPlan activation_plan_;
  Buffer& weights_;
  Buffer& activations_;
  std::uint32_t q_width_, qkv_width_;  // of attention's result and of what it reads
};

}  // namespace kvroof
