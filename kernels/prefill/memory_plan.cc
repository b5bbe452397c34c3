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

// Allocates tensors of a layer by their sizes in elements.
class LayerPlan {
 public:
  LayerPlan(const ModelShape& shape, std::uint32_t layer, std::uint64_t element, Cursor& cursor)
      : s_(shape), sparse_(shape.kind(layer).sparse), element_(element), cursor_(cursor) {}

  LayerWeights plan() {
    w_.input_norm = vector(s_.hidden);
    s_.latent ? latent_attention(*s_.latent) : attention();
    w_.post_norm = vector(s_.hidden);
    if (s_.outer_norms) {
      w_.attention_out_norm = vector(s_.hidden);
      w_.feed_forward_out_norm = vector(s_.hidden);
    }
    sparse_ ? experts(*s_.experts) : dense(s_.intermediate);
    if (const std::uint64_t biases = layer_biases(s_, sparse_)) w_.biases = vector(biases);
    return w_;
  }

 private:
  Extent vector(std::uint64_t size) { return cursor_.take(size * element_); }
  Extent matrix(std::uint64_t out, std::uint64_t in) { return vector(out * in); }

  void attention() {
    const std::uint64_t q = std::uint64_t{s_.heads} * s_.head_dim,
                        kv = std::uint64_t{s_.kv_heads} * s_.head_dim;
    w_.qkv = matrix(q + 2 * kv, s_.hidden);
    if (s_.qk_norm) w_.qk_norm = vector(2ull * s_.head_dim);
    w_.o = matrix(s_.hidden, q);
  }

  void latent_attention(const LatentAttention& a) {
    const std::uint64_t heads = s_.heads, q = heads * (a.nope_dim + a.rope_dim);
    if (a.q_rank > 0) {
      w_.q_down = matrix(a.q_rank, s_.hidden);
      w_.q_norm = vector(a.q_rank);
    }
    w_.q_up = matrix(q, a.q_rank > 0 ? a.q_rank : s_.hidden);
    w_.kv_down = matrix(a.kv_rank + a.rope_dim, s_.hidden);
    w_.kv_norm = vector(a.kv_rank);
    w_.kv_up = matrix(heads * (a.nope_dim + a.v_dim), a.kv_rank);
    w_.o = matrix(s_.hidden, heads * a.v_dim);
  }

  void dense(std::uint64_t width) {
    w_.gate_up = matrix(2 * width, s_.hidden);
    w_.down = matrix(s_.hidden, width);
  }

  void experts(const Experts& e) {
    w_.router = matrix(e.total, s_.hidden);
    w_.experts_gate_up = matrix(2ull * e.total * e.intermediate, s_.hidden);
    w_.experts_down = matrix(std::uint64_t{e.total} * s_.hidden, e.intermediate);
    if (e.shared > 0) dense(std::uint64_t{e.shared} * e.intermediate);
  }

  const ModelShape& s_;
  const bool sparse_;
  const std::uint64_t element_;
  Cursor& cursor_;
  LayerWeights w_;
};

}  // namespace

WeightPlan plan_weights(const ModelShape& shape, DType dtype) {
  const std::uint64_t element = bytes_of(dtype), table = head_parameters(shape) * element;
  Cursor cursor;
  WeightPlan plan;
  plan.embedding = cursor.take(table);
  for (std::uint32_t i = 0; i < shape.layers; ++i) {
    plan.layers.push_back(LayerPlan(shape, i, element, cursor).plan());
  }
  plan.final_norm = cursor.take(shape.hidden * element);
  plan.head = shape.tied_embeddings ? plan.embedding : cursor.take(table);
  plan.inverse_frequency = cursor.take(shape.head_dim / 2 * bytes_of(DType::f32));
  plan.total_bytes = cursor.end();
  return plan;
}

namespace {

// Of all feed-forwards that one token goes through in a layer.
std::uint64_t widest_feed_forward(const ModelShape& shape) {
  std::uint64_t widest = 0;
  for (std::uint32_t i = 0; i < shape.layers; ++i) {
    std::uint64_t width = shape.intermediate;
    if (shape.kind(i).sparse) {
      const Experts& e = *shape.experts;
      width = (std::uint64_t{e.active} + e.shared) * e.intermediate;
    }
    widest = std::max(widest, width);
  }
  return widest;
}

}  // namespace

ActivationPlan plan_activations(const ModelShape& shape, DType dtype, std::uint32_t step_tokens) {
  const std::uint64_t row = step_tokens * bytes_of(dtype);  // bytes of one feature of every token
  const std::uint64_t heads = std::uint64_t{shape.heads} * shape.head_dim;
  Cursor cursor;
  ActivationPlan plan;
  for (Extent* each : {&plan.residual, &plan.normed, &plan.projected}) {
    *each = cursor.take(row * shape.hidden);
  }
  Cursor attention(cursor.end()), feed_forward(cursor.end());
  if (shape.latent) {
    const LatentAttention& a = *shape.latent;
    const std::uint64_t qk = std::uint64_t{a.nope_dim} + a.rope_dim;
    plan.qkv = attention.take(row * shape.heads * qk);
    plan.attended = attention.take(row * shape.heads * a.v_dim);
    plan.q_latents = attention.take(row * a.q_rank);
    plan.latents = attention.take(row * (a.kv_rank + a.rope_dim));
    plan.expanded = attention.take(row * shape.heads * (qk + a.v_dim));
  } else {
    plan.qkv = attention.take(row * (heads + 2ull * shape.kv_heads * shape.head_dim));
    plan.attended = attention.take(row * heads);
  }
  const std::uint64_t width = widest_feed_forward(shape);
  plan.gate_up = feed_forward.take(row * 2 * width);
  plan.activated = feed_forward.take(row * width);
  if (shape.experts) {
    plan.scores = feed_forward.take(row * shape.experts->total);
    plan.routed = feed_forward.take(row * shape.experts->active * shape.hidden);
  }
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
