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

struct LayerWeights {
  Extent input_norm, qkv, o, post_norm, gate_up, down;  // matrices [out features, in features]
  Extent qk_norm;                                       // [head_dim]; empty without qk_norm
};

struct WeightPlan {
  Extent embedding, final_norm, head;  // a tied head is the embedding's extent
  Extent inverse_frequency;            // f32
  std::vector<LayerWeights> layers;
  std::uint64_t total_bytes = 0;
};

// Of one step. qkv and attended are dead when gate_up and activated live, so they share bytes.
struct ActivationPlan {
  Extent residual, normed, projected;  // [tokens, hidden]
  Extent qkv, attended;                // [tokens, (heads + 2 kv_heads) head_dim], [.., heads ..]
  Extent gate_up, activated;           // [tokens, 2 intermediate], [tokens, intermediate]
  std::uint64_t total_bytes = 0;
};

WeightPlan plan_weights(const ModelShape& shape, DType dtype);
ActivationPlan plan_activations(const ModelShape& shape, DType dtype, std::uint32_t step_tokens);

}  // namespace kvroof
