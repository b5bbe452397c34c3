// SPDX-License-Identifier: Apache-2.0
// The geometry of a dense transformer with grouped-query attention, and the counts that follow.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "backends/api/dtype.h"

namespace kvroof {

// Llama 3's stretched rotary frequencies, as its config.json names them.
struct RopeScaling {
  double factor = 1, low_freq_factor = 1, high_freq_factor = 4;
  std::uint32_t original_max_position = 8192;
};

struct ModelShape {
  std::string name, source;  // "llama-3.1-8b"; a URL, or the path of the config.json
  std::uint32_t layers = 0, hidden = 0, heads = 0, kv_heads = 0, head_dim = 0, intermediate = 0,
                vocab = 0, max_position = 0;
  bool tied_embeddings = false;
  bool qk_norm = false;  // Qwen3: an RMS norm over each head of q and k
  double norm_epsilon = 1e-5, rope_theta = 10000;
  std::optional<RopeScaling> rope_scaling;
};

// 2 * layers * kv_heads * head_dim * bytes(dtype): K and V of one token.
std::uint64_t kv_bytes_per_token(const ModelShape& shape, DType dtype);

// P: every weight that a token is multiplied by in the layers' matrices, without embedding and
// head.
std::uint64_t body_parameters(const ModelShape& shape);

// hidden * vocab: the head, multiplied once a request.
std::uint64_t head_parameters(const ModelShape& shape);

// All parameters, norms and embedding included; tied embeddings are counted once.
std::uint64_t total_parameters(const ModelShape& shape);

// Sum of i for i = past+1 .. past+tokens: the (query, key) pairs of a causal step.
double causal_pairs(std::uint64_t past, std::uint64_t tokens);

// FLOPs of `tokens` new tokens after `past` cached ones, without the head:
// 2 * P * tokens + layers * 4 * heads * head_dim * causal_pairs(past, tokens).
double prefill_flops(const ModelShape& shape, std::uint64_t past, std::uint64_t tokens);

double head_flops(const ModelShape& shape);

}  // namespace kvroof
