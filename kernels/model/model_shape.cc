// SPDX-License-Identifier: Apache-2.0
#include "kernels/model/model_shape.h"

namespace kvroof {
namespace {

std::uint64_t layer_parameters(const ModelShape& s) {
  const std::uint64_t query = std::uint64_t{s.heads} * s.head_dim;
  const std::uint64_t kv = std::uint64_t{s.kv_heads} * s.head_dim;
  const std::uint64_t attention = s.hidden * (query + 2 * kv) + query * s.hidden;
  const std::uint64_t feed_forward = std::uint64_t{3} * s.hidden * s.intermediate;
  return attention + feed_forward;
}

std::uint64_t norm_parameters(const ModelShape& s) {
  const std::uint64_t per_layer = 2ull * s.hidden + (s.qk_norm ? 2ull * s.head_dim : 0);
  return s.layers * per_layer + s.hidden;
}

}  // namespace

std::uint64_t kv_bytes_per_token(const ModelShape& s, DType dtype) {
  return 2ull * s.layers * s.kv_heads * s.head_dim * bytes_of(dtype);
}

std::uint64_t body_parameters(const ModelShape& s) { return s.layers * layer_parameters(s); }

std::uint64_t head_parameters(const ModelShape& s) { return std::uint64_t{s.hidden} * s.vocab; }

std::uint64_t total_parameters(const ModelShape& s) {
  const std::uint64_t tables = head_parameters(s) * (s.tied_embeddings ? 1 : 2);
  return body_parameters(s) + norm_parameters(s) + tables;
}

double causal_pairs(std::uint64_t past, std::uint64_t tokens) {
  const double n = static_cast<double>(tokens);
  return n * static_cast<double>(past) + n * (n + 1) / 2;
}

double prefill_flops(const ModelShape& s, std::uint64_t past, std::uint64_t tokens) {
  const double linear = 2.0 * static_cast<double>(body_parameters(s)) * static_cast<double>(tokens);
  return linear + 4.0 * s.layers * s.heads * s.head_dim * causal_pairs(past, tokens);
}

double head_flops(const ModelShape& s) { return 2.0 * static_cast<double>(head_parameters(s)); }

}  // namespace kvroof
