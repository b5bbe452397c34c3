// SPDX-License-Identifier: Apache-2.0
// Tests only: the same transformer, in float64 and as plainly as it can be written.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/model/model_shape.h"

namespace kvroof {

// Logits of the last token of `ids`, with the weights that weight_upload.h numbers.
std::vector<double> reference_logits(const ModelShape& shape, DType dtype, std::uint64_t seed,
                                     std::span<const std::int32_t> ids);

}  // namespace kvroof
