// SPDX-License-Identifier: Apache-2.0
// What one layer computes, for every family of models.
#include <cmath>

#include "kernels/prefill/forward.h"
#include "kernels/prefill/forward_pass.h"

namespace kvroof {

Status Forward::layer(Pass& pass, std::uint32_t index) const {
  const LayerWeights& weights = weight_plan_.layers[index];
  const std::uint32_t n = pass.tokens, hidden = shape_.hidden;
  const Span residual = rows(activation_plan_.residual, hidden, 0, n),
             normed = rows(activation_plan_.normed, hidden, 0, n),
             projected = rows(activation_plan_.projected, hidden, 0, n),
             attended = rows(activation_plan_.attended, q_width_, 0, n);
  const Span carried = index == 0 ? Span{} : projected;  // the last layer's output, not yet added
  Status status = pass.submit(norm(carried, residual, weights.input_norm, normed, n, hidden));
  if (status.ok()) status = shape_.latent ? attend_latents(pass, index) : attend(pass, index);
  if (status.ok()) status = pass.submit(gemm(attended, weights.o, projected, n, hidden, q_width_));
  if (status.ok()) status = join(pass, weights.attention_out_norm);
  if (status.ok()) {
    status = pass.submit(norm(projected, residual, weights.post_norm, normed, n, hidden));
  }
  if (status.ok()) status = feed_forward(pass, index);
  return status.ok() ? join(pass, weights.feed_forward_out_norm) : status;
}

Status Forward::join(Pass& pass, const Extent& out_norm) const {
  const std::uint32_t n = pass.tokens, hidden = shape_.hidden;
  const Span projected = rows(activation_plan_.projected, hidden, 0, n);
  if (shape_.ranks > 1) {
    const AllReduce sum{
        .data = projected, .tokens = n, .width = hidden, .ranks = shape_.ranks, .dtype = dtype_};
    if (Status status = pass.submit(sum); !status.ok()) return status;
  }
  if (out_norm.bytes == 0) return {};
  return pass.submit(norm({}, projected, out_norm, projected, n, hidden));
}

std::vector<SegmentBatch> Forward::batches(const Pass& pass, std::uint32_t layer) const {
  const std::uint32_t group = kv_places_[layer].group;
  return batch_segments(pass.step, pass.requests, group, kv_[group].block_tokens);
}

PagedKv Forward::paged(const KvSpans& spans, std::uint32_t layer) const {
  const auto [group, place] = kv_places_[layer];
  PagedKv kv = kv_[group].paged(place);
  kv.cache = spans.cache;
  kv.block_table = spans.block_table;
  return kv;
}

Status Forward::attend(Pass& pass, std::uint32_t index) const {
  const LayerWeights& weights = weight_plan_.layers[index];
  const std::uint32_t n = pass.tokens, hidden = shape_.hidden;
  const std::uint64_t row_bytes = qkv_width_ * bytes_of(dtype_);
  const Span normed = rows(activation_plan_.normed, hidden, 0, n),
             all = rows(activation_plan_.qkv, qkv_width_, 0, n);
  if (Status status = pass.submit(gemm(normed, weights.qkv, all, n, qkv_width_, hidden));
      !status.ok()) {
    return status;
  }
  if (shape_.qk_norm) {  // priced only
    const std::uint32_t head_rows = n * (shape_.heads + shape_.kv_heads);
    const Span heads = rows(activation_plan_.qkv, shape_.head_dim, 0, head_rows);
    const Op op = norm({}, heads, weights.qk_norm, heads, head_rows, shape_.head_dim);
    if (Status status = pass.submit(op); !status.ok()) return status;
  }
  if (Status status = pass.await_layer(index); !status.ok()) return status;
  for (const SegmentBatch& batch : batches(pass, index)) {
    const std::uint32_t count = batch.sequences * batch.tokens;
    const PagedKv kv = paged(batch.kv, index);
    const Span qkv = rows(activation_plan_.qkv, qkv_width_, batch.row, count);
    const RopeAppend append{.qkv = qkv,
                            .inverse_frequency = weight(weight_plan_.inverse_frequency),
                            .kv = kv,
                            .tokens = batch.tokens,
                            .past = batch.past,
                            .heads = shape_.heads,
                            .dtype = dtype_,
                            .sequences = batch.sequences};
    const Attention attention{.q = qkv,
                              .out = rows(activation_plan_.attended, q_width_, batch.row, count),
                              .q_row_bytes = row_bytes,
                              .kv = kv,
                              .tokens = batch.tokens,
                              .past = batch.past,
                              .heads = shape_.heads,
                              .scale = 1.0f / std::sqrt(static_cast<float>(shape_.head_dim)),
                              .dtype = dtype_,
                              .window = shape_.kind(index).window,
                              .sequences = batch.sequences};
    if (Status status = pass.submit_all({append, attention}); !status.ok()) return status;
  }
  return {};
}

Status Forward::attend_latents(Pass& pass, std::uint32_t index) const {
  const LayerWeights& weights = weight_plan_.layers[index];
  const LatentAttention& a = *shape_.latent;
  const std::uint32_t n = pass.tokens, hidden = shape_.hidden, latent = a.kv_rank + a.rope_dim;
  const Span normed = rows(activation_plan_.normed, hidden, 0, n),
             q = rows(activation_plan_.qkv, qkv_width_, 0, n),
             latents = rows(activation_plan_.latents, latent, 0, n);
  Status status;
  if (a.q_rank > 0) {
    const Span q_latents = rows(activation_plan_.q_latents, a.q_rank, 0, n);
    status = pass.submit_all({gemm(normed, weights.q_down, q_latents, n, a.q_rank, hidden),
                              norm({}, q_latents, weights.q_norm, q_latents, n, a.q_rank),
                              gemm(q_latents, weights.q_up, q, n, qkv_width_, a.q_rank)});
  } else {
    status = pass.submit(gemm(normed, weights.q_up, q, n, qkv_width_, hidden));
  }
  if (status.ok()) {
    status = pass.submit_all({gemm(normed, weights.kv_down, latents, n, latent, hidden),
                              norm({}, latents, weights.kv_norm, latents, n, a.kv_rank)});
  }
  if (status.ok()) status = pass.await_layer(index);
  for (const SegmentBatch& batch : batches(pass, index)) {
    const std::uint32_t count = batch.sequences * batch.tokens;
    const MlaAttention attention{
        .q = rows(activation_plan_.qkv, qkv_width_, batch.row, count),
        .latents = rows(activation_plan_.latents, latent, batch.row, count),
        .expansion = weight(weights.kv_up),
        .out = rows(activation_plan_.attended, q_width_, batch.row, count),
        .kv = paged(batch.kv, index),
        .tokens = batch.tokens,
        .past = batch.past,
        .heads = shape_.heads,
        .kv_rank = a.kv_rank,
        .nope_dim = a.nope_dim,
        .rope_dim = a.rope_dim,
        .v_dim = a.v_dim,
        .dtype = dtype_,
        .sequences = batch.sequences};
    if (status.ok()) status = pass.submit(attention);
  }
  return status;
}

Status Forward::feed_forward(Pass& pass, std::uint32_t index) const {
  const LayerWeights& weights = weight_plan_.layers[index];
  return shape_.kind(index).sparse ? experts(pass, weights)
                                   : dense(pass, weights, shape_.intermediate);
}

Status Forward::dense(Pass& pass, const LayerWeights& weights, std::uint32_t width) const {
  const std::uint32_t n = pass.tokens, hidden = shape_.hidden;
  const Span normed = rows(activation_plan_.normed, hidden, 0, n),
             gate_up = rows(activation_plan_.gate_up, 2ull * width, 0, n),
             activated = rows(activation_plan_.activated, width, 0, n),
             projected = rows(activation_plan_.projected, hidden, 0, n);
  const Activation silu{
      .gate_up = gate_up, .out = activated, .tokens = n, .width = width, .dtype = dtype_};
  return pass.submit_all({gemm(normed, weights.gate_up, gate_up, n, 2 * width, hidden), silu,
                          gemm(activated, weights.down, projected, n, hidden, width)});
}

Status Forward::experts(Pass& pass, const LayerWeights& weights) const {
  const Experts& e = *shape_.experts;
  const std::uint32_t n = pass.tokens, hidden = shape_.hidden;
  const Span normed = rows(activation_plan_.normed, hidden, 0, n),
             scores = rows(activation_plan_.scores, e.total, 0, n);
  if (e.shared > 0) {
    if (Status status = dense(pass, weights, e.shared * e.intermediate); !status.ok())
      return status;
  }
  const MixtureOfExperts routed{.x = normed,
                                .scores = scores,
                                .gate_up = weight(weights.experts_gate_up),
                                .down = weight(weights.experts_down),
                                .out = rows(activation_plan_.projected, hidden, 0, n),
                                .tokens = n,
                                .hidden = hidden,
                                .width = e.intermediate,
                                .experts = e.total,
                                .active = e.active,
                                .add = e.shared > 0,
                                .dtype = dtype_};
  return pass.submit_all({gemm(normed, weights.router, scores, n, e.total, hidden), routed});
}

}  // namespace kvroof
