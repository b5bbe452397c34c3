// SPDX-License-Identifier: Apache-2.0
// What a copy of a request moves, by arithmetic alone.
#pragma once
#include <cstdint>

#include "kernels/model/model_shape.h"
#include "suites/serving/session.h"

namespace kvroof {

struct Copied {
  std::uint64_t bytes = 0, regions = 0;
};

// The whole chunks of one request of `context_tokens`; of layers with a window, those they see.
Copied copied(const ModelShape& shape, const SessionSpec& spec, std::uint64_t context_tokens);

}  // namespace kvroof
