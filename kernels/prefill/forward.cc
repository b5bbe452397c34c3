// SPDX-License-Identifier: Apache-2.0
#include "kernels/prefill/forward.h"

#include <map>

#include "kernels/prefill/forward_pass.h"

namespace kvroof {

Forward::Forward(const PrefillConfig& config, Buffer& weights, Buffer& activations, bool priced)
    : shape_(config.shape),
      priced_(priced),
      dtype_(config.dtype),
      kv_(config.kv),
      kv_places_(kv_places(config.shape)),
      weight_plan_(plan_weights(config.shape, config.dtype)),
      activation_plan_(plan_activations(config.shape, config.dtype, config.step_tokens)),
      weights_(weights),
      activations_(activations),
      q_width_(config.shape.heads * config.shape.head_dim),
      qkv_width_((config.shape.heads + 2 * config.shape.kv_heads) * config.shape.head_dim) {
  if (const auto& latent = config.shape.latent) {
    q_width_ = config.shape.heads * latent->v_dim;
    qkv_width_ = config.shape.heads * (latent->nope_dim + latent->rope_dim);
  }
}

Status Forward::run(const Step& step, std::span<const PrefillRequest> requests,
                    const StepOrder& order, const WaitUntil& wait, OpLane& lane) const {
  Pass pass{step, requests, order.fences, order.of_layer, wait, lane, rows_of(step)};
  pass.gather = priced_;
  if (Status status = embed(pass); !status.ok()) return status;
  if (Status status = pass.flush(); !status.ok()) return status;
  pass.outside_layers = false;
  const bool merges = priced_ && !order.of_layer;  // else each layer has a moment of its own
  if (Status status = merges ? alike_layers(pass) : layers(pass); !status.ok()) return status;
  if (Status status = pass.flush(); !status.ok()) return status;
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

// The first layer adds no residual; of the others those of one kind cost the same, so that one
// stands for all of them.
Status Forward::alike_layers(Pass& pass) const {
  struct Alike {
    std::uint32_t first = 0, count = 0;
  };
  std::map<std::pair<std::uint32_t, bool>, Alike> kinds;
  for (std::uint32_t i = 1; i < shape_.layers; ++i) {
    const LayerKind kind = shape_.kind(i);
    Alike& alike = kinds[{kind.window, kind.sparse}];
    if (alike.count++ == 0) alike.first = i;
  }
  Status status = layer(pass, 0);
  if (status.ok()) status = pass.flush();
  for (const auto& [kind, alike] : kinds) {
    if (status.ok()) status = layer(pass, alike.first);
    if (status.ok()) status = pass.flush(alike.count);
  }
  return status;
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
