// SPDX-License-Identifier: Apache-2.0
// A model's geometry as the record and `kvroof models --json` have it.
#pragma once
#include "kernels/model/model_shape.h"
#include "suites/harness/json.h"

namespace kvroof {

// Every field of the shape, so that two runs of different models differ here. What not every
// family has is there only where this model has it.
Json geometry_json(const ModelShape& shape);

}  // namespace kvroof
