// SPDX-License-Identifier: Apache-2.0
#include "kernels/prefill/memory_plan.h"

#include <algorithm>

#include "kernels/prefill/prefill.h"

namespace kvroof {
namespace {

constexpr std::uint64_t kAlignment = 256;  // what vendors' allocators give, and vector loads like

class Cursor {
 public:
  explicit Cursor(std::uint64_t start = 0) : end_(start) {}

  Extent take(std::uint64_t bytes) {
    const Extent extent{end_, bytes};
    end_ += (bytes + kAlignment - 1) / kAlignment * kAlignment;
    return extent;
  }
  std::uint64_t end() const { return end_; }

 private:
  std::uint64_t end_;
};

LayerWeights plan_layer(const ModelShape& shape, std::uint64_t element, Cursor& cursor) {
  const std::uint64_t hidden = shape.hidden, q = std::uint64_t{shape.heads} * shape.head_dim,
                      kv = std::uint64_t{shape.kv_heads} * shape.head_dim;
  LayerWeights layer;
  layer.input_norm = cursor.take(hidden * element);
  layer.qkv = cursor.take((q + 2 * kv) * hidden * element);
  if (shape.qk_norm) layer.qk_norm = cursor.take(shape.head_dim * element);
  layer.o = cursor.take(hidden * q * element);
  layer.post_norm = cursor.take(hidden * element);
  layer.gate_up = cursor.take(2ull * shape.intermediate * hidden * element);
  layer.down = cursor.take(hidden * shape.intermediate * element);
  return layer;
}

}  // namespace

WeightPlan plan_weights(const ModelShape& shape, DType dtype) {
  const std::uint64_t element = bytes_of(dtype), table = head_parameters(shape) * element;
  Cursor cursor;
  WeightPlan plan;
  plan.embedding = cursor.take(table);
  for (std::uint32_t i = 0; i < shape.layers; ++i) {
    plan.layers.push_back(plan_layer(shape, element, cursor));
  }
  plan.final_norm = cursor.take(shape.hidden * element);
  plan.head = shape.tied_embeddings ? plan.embedding : cursor.take(table);
  plan.inverse_frequency = cursor.take(shape.head_dim / 2 * bytes_of(DType::f32));
  plan.total_bytes = cursor.end();
  return plan;
}

ActivationPlan plan_activations(const ModelShape& shape, DType dtype, std::uint32_t step_tokens) {
  const std::uint64_t row = step_tokens * bytes_of(dtype);  // bytes of one feature of every token
  const std::uint64_t heads = std::uint64_t{shape.heads} * shape.head_dim;
  Cursor cursor;
  ActivationPlan plan;
  for (Extent* each : {&plan.residual, &plan.normed, &plan.projected}) {
    *each = cursor.take(row * shape.hidden);
  }
  Cursor attention(cursor.end()), feed_forward(cursor.end());
  plan.qkv = attention.take(row * (heads + 2ull * shape.kv_heads * shape.head_dim));
  plan.attended = attention.take(row * heads);
  plan.gate_up = feed_forward.take(row * 2 * shape.intermediate);
  plan.activated = feed_forward.take(row * shape.intermediate);
  plan.total_bytes = std::max(attention.end(), feed_forward.end());
  return plan;
}

std::uint64_t prefill_weight_bytes(const ModelShape& shape, DType dtype) {
  return plan_weights(shape, dtype).total_bytes;
}

std::uint64_t prefill_activation_bytes(const ModelShape& shape, DType dtype,
                                       std::uint32_t step_tokens) {
  return plan_activations(shape, dtype, step_tokens).total_bytes;
}

}  // namespace kvroof
