// SPDX-License-Identifier: Apache-2.0
#include "kernels/prefill/forward.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace kvroof {

struct Forward::Pass {
  const Step& step;
  std::span<const PrefillRequest> requests;
  std::span<const Point> fences;
  const WaitUntil& wait;
  OpLane& lane;
  std::uint32_t tokens;
  bool outside_layers = true;

  bool gather = false;  // ops are kept until flush()
  std::vector<Op> kept = {};

  // The lane is in order, so the first op's fences hold the whole step back.
  Status submit(const Op& op) {
    if (gather) {
      kept.push_back(op);
      return {};
    }
    Status status = lane.submit(op, fences, wait, outside_layers);
    fences = {};
    return status;
  }

  Status submit_all(std::initializer_list<Op> ops) {
    for (const Op& op : ops) {
      if (Status status = submit(op); !status.ok()) return status;
    }
    return {};
  }

  // What was kept, `times` times over.
  Status flush(std::uint32_t times = 1) {
    if (kept.empty()) return {};
    Status status = lane.submit(OpRun{kept, times}, fences, wait, outside_layers);
    fences = {};
    kept.clear();
    return status;
  }
};

Forward::Forward(const PrefillConfig& config, Buffer& weights, Buffer& activations, bool priced)
    : shape_(config.shape),
      priced_(priced),
      dtype_(config.dtype),
      kv_(config.kv),
      weight_plan_(plan_weights(config.shape, config.dtype)),
      activation_plan_(plan_activations(config.shape, config.dtype, config.step_tokens)),
      weights_(weights),
      activations_(activations),
      q_width_(config.shape.heads * config.shape.head_dim),
      qkv_width_((config.shape.heads + 2 * config.shape.kv_heads) * config.shape.head_dim) {}

Status Forward::run(const Step& step, std::span<const PrefillRequest> requests,
                    std::span<const Point> fences, const WaitUntil& wait, OpLane& lane) const {
  Pass pass{step, requests, fences, wait, lane, rows_of(step)};
  pass.gather = priced_;
  if (Status status = embed(pass); !status.ok()) return status;
  if (Status status = pass.flush(); !status.ok()) return status;
  pass.outside_layers = false;
  if (Status status = priced_ ? alike_layers(pass) : layers(pass); !status.ok()) return status;
  pass.outside_layers = true;
  if (Status status = logits(pass); !status.ok()) return status;
  return pass.flush();
}

Status Forward::layers(Pass& pass) const {
  for (std::uint32_t i = 0; i < shape_.layers; ++i) {
    if (Status status = layer(pass, i); !status.ok()) return status;
  }
  return {};
}

// The first layer adds no residual; the others cost the same, so that one stands for all of them.
Status Forward::alike_layers(Pass& pass) const {
  for (std::uint32_t i = 0; i < std::min(shape_.layers, 2u); ++i) {
    if (Status status = layer(pass, i); !status.ok()) return status;
    if (Status status = pass.flush(i == 0 ? 1 : shape_.layers - 1); !status.ok()) return status;
  }
  return {};
}

Status Forward::embed(Pass& pass) const {
  for (const Segment& segment : pass.step) {
    const Span& ids = pass.requests[segment.request].token_ids;
    const std::uint64_t id = bytes_of(DType::i32);
    const Embedding op{
        .ids = {ids.buffer, ids.offset + segment.first * id, segment.tokens * id},
        .table = weight(weight_plan_.embedding),
        .out = rows(activation_plan_.residual, shape_.hidden, segment.row, segment.tokens),
        .tokens = segment.tokens,
        .width = shape_.hidden,
        .vocab = shape_.vocab,
        .dtype = dtype_};
    if (Status status = pass.submit(op); !status.ok()) return status;
  }
  return {};
}

Status Forward::layer(Pass& pass, std::uint32_t index) const {
  const LayerWeights& weights = weight_plan_.layers[index];
  const std::uint32_t n = pass.tokens, hidden = shape_.hidden;
  const Span residual = rows(activation_plan_.residual, hidden, 0, n),
             normed = rows(activation_plan_.normed, hidden, 0, n),
             projected = rows(activation_plan_.projected, hidden, 0, n),
             qkv = rows(activation_plan_.qkv, qkv_width_, 0, n),
             attended = rows(activation_plan_.attended, q_width_, 0, n);
  const Span carried = index == 0 ? Span{} : projected;  // the last layer's output, not yet added
  Status status = pass.submit_all({norm(carried, residual, weights.input_norm, normed, n, hidden),
                                   gemm(normed, weights.qkv, qkv, n, qkv_width_, hidden)});
  if (status.ok()) status = attend(pass, index);
  if (status.ok()) {
    status = pass.submit_all({gemm(attended, weights.o, projected, n, hidden, q_width_),
                              norm(projected, residual, weights.post_norm, normed, n, hidden)});
  }
  return status.ok() ? feed_forward(pass, weights) : status;
}

Status Forward::attend(Pass& pass, std::uint32_t index) const {
  const std::uint64_t row_bytes = qkv_width_ * bytes_of(dtype_);
  if (shape_.qk_norm) {  // priced only: create() refuses where it would have to be computed
    const std::uint32_t head_rows = pass.tokens * (shape_.heads + shape_.kv_heads);
    const Span heads = rows(activation_plan_.qkv, shape_.head_dim, 0, head_rows);
    const Op op =
        norm({}, heads, weight_plan_.layers[index].qk_norm, heads, head_rows, shape_.head_dim);
    if (Status status = pass.submit(op); !status.ok()) return status;
  }
  for (const Segment& segment : pass.step) {
    const PrefillRequest& request = pass.requests[segment.request];
    const std::uint32_t past = request.past + segment.first;
    PagedKv kv = kv_.paged(index);
    kv.cache = request.cache;
    kv.block_table = request.block_table;
    const Span qkv = rows(activation_plan_.qkv, qkv_width_, segment.row, segment.tokens);
    const RopeAppend append{.qkv = qkv,
                            .inverse_frequency = weight(weight_plan_.inverse_frequency),
                            .kv = kv,
                            .tokens = segment.tokens,
                            .past = past,
                            .heads = shape_.heads};
    const Attention attention{
        .q = qkv,
        .out = rows(activation_plan_.attended, q_width_, segment.row, segment.tokens),
        .q_row_bytes = row_bytes,
        .kv = kv,
        .tokens = segment.tokens,
        .past = past,
        .heads = shape_.heads,
        .scale = 1.0f / std::sqrt(static_cast<float>(shape_.head_dim))};
    if (Status status = pass.submit_all({append, attention}); !status.ok()) return status;
  }
  return {};
}

Status Forward::feed_forward(Pass& pass, const LayerWeights& weights) const {
  const std::uint32_t n = pass.tokens, hidden = shape_.hidden, width = shape_.intermediate;
  const Span normed = rows(activation_plan_.normed, hidden, 0, n),
             gate_up = rows(activation_plan_.gate_up, 2ull * width, 0, n),
             activated = rows(activation_plan_.activated, width, 0, n),
             projected = rows(activation_plan_.projected, hidden, 0, n);
  const Activation silu{
      .gate_up = gate_up, .out = activated, .tokens = n, .width = width, .dtype = dtype_};
  return pass.submit_all({gemm(normed, weights.gate_up, gate_up, n, 2 * width, hidden), silu,
                          gemm(activated, weights.down, projected, n, hidden, width)});
}

// Only the last row of a request that asks for logits is worth the head. Rows whose results lie
// side by side share one GEMM, as a serving engine's would.
Status Forward::logits(Pass& pass) const {
  const std::uint32_t hidden = shape_.hidden;
  const auto submit_head = [&](std::uint32_t first, std::uint32_t count, const Span& out) {
    const Span all{out.buffer, out.offset, count * out.bytes};
    Op head = gemm(rows(activation_plan_.normed, hidden, first, count), weight_plan_.head, all,
                   count, shape_.vocab, hidden);
    std::get<Gemm>(head).out_dtype = DType::f32;
    return pass.submit(head);
  };
  const std::uint64_t out_bytes = std::uint64_t{shape_.vocab} * bytes_of(DType::f32);
  std::uint32_t first = 0, count = 0;  // rows of `normed` whose head is still to run
  Span group{};                        // the first of them's logits
  for (const Segment& segment : pass.step) {
    const Span& asked = pass.requests[segment.request].logits;
    if (!segment.last || asked.buffer == nullptr) continue;
    const bool adjacent = count > 0 && asked.buffer == group.buffer &&
                          asked.offset == group.offset + count * out_bytes;
    if (count > 0 && !adjacent) {
      if (Status status = submit_head(first, count, group); !status.ok()) return status;
      first += count;
      count = 0;
    }
    if (count == 0) group = {asked.buffer, asked.offset, out_bytes};
    const std::uint32_t row = segment.row + segment.tokens - 1;
    const Op last_norm =
        norm(rows(activation_plan_.projected, hidden, row, 1),
             rows(activation_plan_.residual, hidden, row, 1), weight_plan_.final_norm,
             rows(activation_plan_.normed, hidden, first + count, 1), 1, hidden);
    if (Status status = pass.submit(last_norm); !status.ok()) return status;
    ++count;
  }
  return count > 0 ? submit_head(first, count, group) : Status{};
}

Span Forward::rows(const Extent& extent, std::uint64_t width, std::uint32_t first,
                   std::uint32_t count) const {
  const std::uint64_t row = width * bytes_of(dtype_);
  return {&activations_, extent.offset + first * row, count * row};
}

Op Forward::gemm(Span a, const Extent& b, Span c, std::uint32_t m, std::uint32_t n,
                 std::uint32_t k) const {
  return Gemm{
      .a = a, .b = weight(b), .c = c, .m = m, .n = n, .k = k, .dtype = dtype_, .out_dtype = dtype_};
}

Op Forward::norm(Span x, Span residual, const Extent& weights, Span out, std::uint32_t tokens,
                 std::uint32_t width) const {
  return Norm{.x = x,
              .residual = residual,
              .weight = weight(weights),
              .out = out,
              .tokens = tokens,
              .width = width,
              .epsilon = static_cast<float>(shape_.norm_epsilon),
              .dtype = dtype_};
}

}  // namespace kvroof
