// SPDX-License-Identifier: Apache-2.0
#include "kernels/model/model_shape.h"

#include <algorithm>

namespace kvroof {
namespace {

std::uint64_t product(std::uint64_t a, std::uint64_t b) { return a * b; }

struct Dims {
  std::uint64_t qk, v;
};
Dims head_dims(const ModelShape& s) {
  if (!s.latent) return {s.head_dim, s.head_dim};
  return {std::uint64_t{s.latent->nope_dim} + s.latent->rope_dim, s.latent->v_dim};
}

// Multiplied by each token: q, k, v and the output projection.
std::uint64_t attention_parameters(const ModelShape& s) {
  const std::uint64_t heads = s.heads, hidden = s.hidden;
  if (!s.latent) return product(hidden, (2 * heads + 2 * s.kv_heads) * s.head_dim);
  const LatentAttention& a = *s.latent;
  const auto [qk, v] = head_dims(s);
  const std::uint64_t queries =
      a.q_rank == 0 ? hidden * heads * qk : product(a.q_rank, hidden + heads * qk);
  const std::uint64_t latents = product(hidden, a.kv_rank + a.rope_dim);
  const std::uint64_t expansion = product(a.kv_rank, heads * (a.nope_dim + v));
  return queries + latents + expansion + heads * v * hidden;
}

std::uint64_t gated(std::uint64_t hidden, std::uint64_t intermediate) {
  return 3 * hidden * intermediate;
}

// `experts`: how many of the routed ones count.
std::uint64_t feed_forward_parameters(const ModelShape& s, bool sparse, std::uint64_t experts) {
  if (!sparse) return gated(s.hidden, s.intermediate);
  const Experts& e = *s.experts;
  return product(s.hidden, e.total) + (experts + e.shared) * gated(s.hidden, e.intermediate);
}

// Over all layers; `whole`: every expert counts, not just the active ones.
std::uint64_t matrix_parameters(const ModelShape& s, bool whole) {
  std::uint64_t sum = s.layers * attention_parameters(s);
  for (std::uint32_t i = 0; i < s.layers; ++i) {
    const bool sparse = s.kind(i).sparse;
    const std::uint64_t experts = sparse ? (whole ? s.experts->total : s.experts->active) : 0;
    sum += feed_forward_parameters(s, sparse, experts);
  }
  return sum;
}

std::uint64_t norm_parameters(const ModelShape& s) {
  std::uint64_t per_layer = (s.outer_norms ? 4ull : 2ull) * s.hidden;
  if (s.qk_norm) per_layer += 2ull * s.head_dim;
  if (s.latent) per_layer += s.latent->q_rank + s.latent->kv_rank;
  return s.layers * per_layer + s.hidden;
}

// `whole`: of every expert, not just the active ones.
std::uint64_t bias_parameters(const ModelShape& s, bool sparse, bool whole) {
  std::uint64_t sum = 0;
  if (s.biases.qkv) sum += (std::uint64_t{s.heads} + 2 * s.kv_heads) * s.head_dim;
  if (s.biases.output) sum += s.hidden;
  if (!s.biases.feed_forward) return sum;
  if (!sparse) return sum + 2ull * s.intermediate + s.hidden;
  const Experts& e = *s.experts;
  const std::uint64_t counted = (whole ? e.total : e.active) + e.shared;
  return sum + e.total + counted * (2ull * e.intermediate + s.hidden);
}

std::uint64_t all_bias_parameters(const ModelShape& s, bool whole) {
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < s.layers; ++i) sum += bias_parameters(s, s.kind(i).sparse, whole);
  return sum;
}

std::uint64_t layer_kv_bytes(const ModelShape& s, DType dtype) {
  const auto vector = [dtype](std::uint64_t elements) {
    return elements * bytes_of(dtype) + scale_bytes_of(dtype);
  };
  if (s.latent) return vector(std::uint64_t{s.latent->kv_rank} + s.latent->rope_dim);
  return 2ull * s.kv_heads * vector(s.head_dim);
}

}  // namespace

std::optional<ModelShape> shard(const ModelShape& s, std::uint32_t ranks, std::string& why) {
  ModelShape part = s;
  part.ranks = ranks;
  const auto divide = [&](std::uint32_t& size, const char* what) {
    if (size % ranks != 0) {
      why = std::string(what) + " (" + std::to_string(size) + ")";
      return false;
    }
    size /= ranks;
    return true;
  };
  if (!divide(part.heads, "query heads") || !divide(part.intermediate, "feed-forward width")) {
    return std::nullopt;
  }
  part.vocab = (s.vocab + ranks - 1) / ranks;  // engines pad it
  if (part.experts && !divide(part.experts->intermediate, "experts' width")) return std::nullopt;
  if (s.latent) {
    part.kv_heads = part.heads;  // one K and V a query head, all made of the same latent
    return part;
  }
  if (s.kv_heads >= ranks)
    return divide(part.kv_heads, "KV heads") ? std::optional(part) : std::nullopt;
  part.kv_heads = 1;
  if (ranks % s.kv_heads == 0) return part;
  why = "KV heads (" + std::to_string(s.kv_heads) + ")";
  return std::nullopt;
}

std::uint64_t kv_bytes_per_token(const ModelShape& s, DType dtype) {
  return s.layers * layer_kv_bytes(s, dtype);
}

std::uint64_t growing_kv_bytes_per_token(const ModelShape& s, DType dtype) {
  std::uint64_t layers = 0;
  for (std::uint32_t i = 0; i < s.layers; ++i) layers += s.kind(i).window == 0 ? 1 : 0;
  return layers * layer_kv_bytes(s, dtype);
}

std::uint64_t kv_bytes(const ModelShape& s, DType dtype, std::uint64_t tokens) {
  std::uint64_t kept = 0;
  for (std::uint32_t i = 0; i < s.layers; ++i) {
    const std::uint64_t window = s.kind(i).window;
    kept += window == 0 ? tokens : std::min(tokens, window);
  }
  return kept * layer_kv_bytes(s, dtype);
}

std::uint64_t body_parameters(const ModelShape& s) {
  return matrix_parameters(s, false) + all_bias_parameters(s, false);
}

std::uint64_t head_parameters(const ModelShape& s) { return product(s.hidden, s.vocab); }

std::uint64_t total_parameters(const ModelShape& s) {
  const std::uint64_t tables = head_parameters(s) * (s.tied_embeddings ? 1 : 2);
  const std::uint64_t sinks = s.sinks ? product(s.layers, s.heads) : 0;
  return matrix_parameters(s, true) + all_bias_parameters(s, true) + norm_parameters(s) + sinks +
         tables;
}

std::uint64_t layer_biases(const ModelShape& s, bool sparse) {
  return bias_parameters(s, sparse, true) + (s.sinks ? s.heads : 0);
}

double causal_pairs(std::uint64_t past, std::uint64_t tokens, std::uint32_t window) {
  const double n = static_cast<double>(tokens);
  if (window == 0) return n * static_cast<double>(past) + n * (n + 1) / 2;
  // Up to the window each token sees one more; from there on all see as many.
  const std::uint64_t rising = past < window ? std::min<std::uint64_t>(tokens, window - past) : 0;
  return causal_pairs(past, rising) + static_cast<double>(tokens - rising) * window;
}

double prefill_flops(const ModelShape& s, std::uint64_t past, std::uint64_t tokens) {
  const double linear = 2.0 * static_cast<double>(body_parameters(s)) * static_cast<double>(tokens);
  const auto [qk, v] = head_dims(s);
  const double a_pair = 2.0 * s.heads * static_cast<double>(qk + v);
  if (s.kinds.empty()) return linear + s.layers * a_pair * causal_pairs(past, tokens);
  double pairs = 0;
  for (const LayerKind& kind : s.kinds) pairs += causal_pairs(past, tokens, kind.window);
  return linear + a_pair * pairs;
}

double head_flops(const ModelShape& s) { return 2.0 * static_cast<double>(head_parameters(s)); }

}  // namespace kvroof
