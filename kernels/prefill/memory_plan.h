// SPDX-License-Identifier: Apache-2.0
// Where each tensor lies in the two buffers that a prefill owns: one of weights, one of
// activations.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "backends/api/dtype.h"
#include "kernels/model/model_shape.h"

namespace kvroof {

struct Extent {
  std::uint64_t offset = 0, bytes = 0;
};

// Matrices are [out features, in features]; what a layer does not have is empty.
struct LayerWeights {
  Extent input_norm, qkv, o, post_norm;
  Extent qk_norm;                                        // [head_dim]
  Extent attention_out_norm, feed_forward_out_norm;      // of models with norms behind
  Extent gate_up, down;                                  // dense, or of the shared experts
  Extent router, experts_gate_up, experts_down;          // of all experts
  Extent q_down, q_norm, q_up, kv_down, kv_norm, kv_up;  // of latent attention, instead of qkv
  Extent biases;                                         // all of them, and sinks
};

struct WeightPlan {
  Extent embedding, final_norm, head;  // a tied head is the embedding's extent
  Extent inverse_frequency;            // f32
  std::vector<LayerWeights> layers;
  std::uint64_t total_bytes = 0;
};

// Of one step. What attention uses is dead when the feed-forward's lives, so they share bytes.
struct ActivationPlan {
  Extent residual, normed, projected;   // [tokens, hidden]
  Extent qkv, attended;                 // [tokens, (heads + 2 kv_heads) head_dim], [.., heads ..]
  Extent q_latents, latents, expanded;  // latent attention: of queries, of KV, K and V made of them
  Extent gate_up, activated;            // [tokens, 2 intermediate], [tokens, intermediate]
  Extent scores, routed;                // [tokens, experts]; what the active experts give
  std::uint64_t total_bytes = 0;
};

WeightPlan plan_weights(const ModelShape& shape, DType dtype);
ActivationPlan plan_activations(const ModelShape& shape, DType dtype, std::uint32_t step_tokens);

}  // namespace kvroof
