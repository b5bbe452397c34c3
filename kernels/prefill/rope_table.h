// SPDX-License-Identifier: Apache-2.0
// The inverse frequencies of rotary embeddings, with Llama 3's stretching where a model has it.
#pragma once
#include <vector>

#include "kernels/model/model_shape.h"

namespace kvroof {

// head_dim / 2 values: theta^(-2i / head_dim), stretched as config.json's rope_type "llama3" says.
std::vector<float> inverse_frequencies(const ModelShape& shape);

}  // namespace kvroof
