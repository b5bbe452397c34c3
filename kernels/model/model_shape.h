// SPDX-License-Identifier: Apache-2.0
// The geometry of a transformer, and the counts that follow from it: parameters, KV bytes, FLOPs.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backends/api/dtype.h"

namespace kvroof {

// Llama 3's stretched rotary frequencies, as its config.json names them.
struct RopeScaling {
  double factor = 1, low_freq_factor = 1, high_freq_factor = 4;
  std::uint32_t original_max_position = 8192;
};

// A feed-forward of experts: a router of [total, hidden] picks `active` of them for each token, and
// `shared` ones see every token.
struct Experts {
  std::uint32_t total = 0, active = 0, shared = 0;
  std::uint32_t intermediate = 0;  // of one expert
};

// Multi-head latent attention (DeepSeek V2 and V3). A token's KV is one latent of kv_rank and one
// rotary key of rope_dim, whatever the heads.
struct LatentAttention {
  std::uint32_t q_rank = 0;  // 0: queries are projected in one step
  std::uint32_t kv_rank = 0, nope_dim = 0, rope_dim = 0, v_dim = 0;
};

// What differs between layers.
struct LayerKind {
  std::uint32_t window = 0;  // a token sees this many, itself included; 0: all before it
  bool sparse = false;       // the feed-forward is one of experts
};

// Parameters that are added, not multiplied: of q, k and v; of the output projection; of the
// feed-forward, its router included.
struct Biases {
  bool qkv = false, output = false, feed_forward = false;
};

struct ModelShape {
  std::string name, source;  // "llama-3.1-8b"; a URL, or the path of the config.json
  std::uint32_t layers = 0, hidden = 0, heads = 0, kv_heads = 0, head_dim = 0, intermediate = 0,
                vocab = 0, max_position = 0;
  bool tied_embeddings = false;
  bool qk_norm = false;      // Qwen3, Gemma 3: an RMS norm over each head of q and k
  bool outer_norms = false;  // Gemma 3: norms behind attention and feed-forward as well
  bool sinks = false;        // gpt-oss: a learned logit a head that attends to nothing
  Biases biases{};
  double norm_epsilon = 1e-5, rope_theta = 10000;
  std::optional<RopeScaling> rope_scaling{};
  std::string other_rope{};  // a way of stretching rotary positions that is not computed: "yarn"
  std::optional<Experts> experts{};
  std::optional<LatentAttention> latent{};
  std::vector<LayerKind> kinds{};  // one a layer; empty: dense layers that see everything
  std::string quantization{};      // of the published weights, "fp8"; told, not applied
  std::uint32_t ranks = 1;         // of a tensor-parallel group, of which this is one's part

  LayerKind kind(std::uint32_t layer) const { return kinds.empty() ? LayerKind{} : kinds[layer]; }
};

// What one of `ranks` tensor-parallel devices holds: its part of query heads, feed-forward and
// vocabulary; of KV heads too, one of them at least, which are then held several times; latents
// whole. Empty where a size does not divide; `why` then says which.
std::optional<ModelShape> shard(const ModelShape& shape, std::uint32_t ranks, std::string& why);

// K and V of one token in all layers: 2 * layers * kv_heads * head_dim * bytes(dtype), or
// layers * (kv_rank + rope_dim) * bytes(dtype) with latent attention. Of a quantised dtype each
// vector (a head's K or V, or a latent) has the bytes of its scale besides.
std::uint64_t kv_bytes_per_token(const ModelShape& shape, DType dtype);

// The same of the layers without a window: what each further token adds in a long context.
std::uint64_t growing_kv_bytes_per_token(const ModelShape& shape, DType dtype);

// KV of a context: layers with a window keep its last tokens only.
std::uint64_t kv_bytes(const ModelShape& shape, DType dtype, std::uint64_t tokens);

// P: every weight that a token is multiplied by in the layers' matrices (of experts the active and
// shared ones, and the router), without embedding and head. A bias counts as a weight that is
// multiplied by one.
std::uint64_t body_parameters(const ModelShape& shape);

// hidden * vocab: the head, multiplied once a request.
std::uint64_t head_parameters(const ModelShape& shape);

// All parameters: every expert, biases, norms and embedding included; tied embeddings count once.
std::uint64_t total_parameters(const ModelShape& shape);

// Biases of one layer, those of every expert, and its sinks.
std::uint64_t layer_biases(const ModelShape& shape, bool sparse);

// Sum of min(i, window) for i = past+1 .. past+tokens: the (query, key) pairs of a causal step.
// Window 0: no bound.
double causal_pairs(std::uint64_t past, std::uint64_t tokens, std::uint32_t window = 0);

// FLOPs of `tokens` new tokens after `past` cached ones, without the head: 2 * P * tokens + over
// layers 2 * heads * (d_qk + d_v) * causal_pairs(past, tokens, window). d_qk = d_v = head_dim, but
// nope_dim + rope_dim and v_dim with latent attention.
double prefill_flops(const ModelShape& shape, std::uint64_t past, std::uint64_t tokens);

double head_flops(const ModelShape& shape);

}  // namespace kvroof
