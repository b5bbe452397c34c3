// SPDX-License-Identifier: Apache-2.0
// The rate that oneDNN itself reaches on a product: what a whole prefill is measured against.
#pragma once
#include <array>
#include <cstdint>
#include <span>

#include "backends/api/dtype.h"

namespace kvroof {

struct GemmShape {
  std::uint32_t m, n, k;
};

// The four products of a Llama-3.2-1B layer over `tokens` tokens: qkv, out, gate and up, down.
constexpr std::array<GemmShape, 4> llama_3_2_1b_shapes(std::uint32_t tokens) {
  return {
      {{tokens, 3072, 2048}, {tokens, 2048, 2048}, {tokens, 16384, 2048}, {tokens, 2048, 8192}}};
}

// FLOP/s of one product, the best of `repeats` runs with weights as they lie and `repeats` in the
// order that oneDNN chooses, reordered beforehand; 0 where oneDNN does not have it.
double gemm_rate(const GemmShape& shape, DType dtype, int repeats);

// The best of gemm_rate over `shapes`.
double best_gemm_rate(std::span<const GemmShape> shapes, DType dtype, int repeats);

}  // namespace kvroof
