// SPDX-License-Identifier: Apache-2.0
// One row's worth of each element-wise op, compiled for every instruction set: a table of
// functions.
#pragma once
#include <cstdint>

#include "backends/api/dtype.h"
#include "kernels/portable/isa.h"

namespace kvroof {

// Pointers are to elements of the table's type. Rows may not overlap unless they are the same row.
struct RowKernels {
  // residual += x (not where x is null); out = residual / sqrt(mean(residual^2) + epsilon) *
  // weight.
  void (*norm)(const void* x, void* residual, const void* weight, void* out, std::uint32_t width,
               float epsilon);
  // out = gate / (1 + exp(-gate)) * up.
  void (*silu_multiply)(const void* gate, const void* up, void* out, std::uint32_t width);
  // out[i] = in[i] * cosine[i] - in[i + half] * sine[i]; out[i + half] = in[i + half] * cosine[i] +
  // in[i] * sine[i].
  void (*rotate)(const void* in, void* out, const float* cosine, const float* sine,
                 std::uint32_t half);
  void (*to_f32)(const void* in, float* out, std::uint64_t count);
  void (*from_f32)(const float* in, void* out, std::uint64_t count);
};

// dtype is f32 or bf16; `isa` must run here.
const RowKernels& row_kernels(DType dtype, Isa isa = best_isa());

}  // namespace kvroof
