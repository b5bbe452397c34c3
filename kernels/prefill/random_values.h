// SPDX-License-Identifier: Apache-2.0
// Random weights by counter: value i of a tensor depends on (seed, tensor, i) alone, so that every
// device gets the same bits, in whatever pieces they are made.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "backends/api/dtype.h"

namespace kvroof {

struct RandomTensor {
  std::uint64_t seed = 1;
  std::uint32_t tensor = 0;     // tells the tensors of a model apart
  float center = 0, reach = 1;  // uniform in [center - reach, center + reach]
  DType dtype = DType::f32;     // f32 or bf16
};

// Values first, first + 1, ... into `out`, whose bytes are a multiple of the element's.
void fill_random(const RandomTensor& tensor, std::uint64_t first, std::span<std::byte> out);

}  // namespace kvroof
