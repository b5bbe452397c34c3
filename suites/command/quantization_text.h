// SPDX-License-Identifier: Apache-2.0
// What a reader must hear of a model whose published weights are quantised.
#pragma once
#include <span>
#include <string>

#include "backends/api/dtype.h"
#include "kernels/model/model_shape.h"

namespace kvroof {

// That its weights are none of that here but of `computed`, the dtypes of a run's matrix products;
// empty where they are not quantised, or nothing is computed.
std::string quantization_text(const ModelShape& shape, std::span<const DType> computed);

}  // namespace kvroof
