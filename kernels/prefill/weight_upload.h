// SPDX-License-Identifier: Apache-2.0
// Makes a model's random weights and brings them to the device, piece by piece through two halves
// of a pinned staging buffer: one is filled while the other is being copied.
#pragma once
#include "backends/api/device.h"
#include "kernels/prefill/memory_plan.h"

namespace kvroof {

// Tensors are numbered for RandomTensor: 0 the embedding, 1 the last norm, then of each layer the
// input norm, qkv, o, the second norm, gate_up and down; last an untied head.
Status upload_weights(Device& device, const ModelShape& shape, DType dtype, std::uint64_t seed,
                      const WeightPlan& plan, Buffer& weights);

}  // namespace kvroof
