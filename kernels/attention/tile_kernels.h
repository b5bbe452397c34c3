// SPDX-License-Identifier: Apache-2.0
// The inner loops of attention in f32, compiled for every instruction set: a table of functions. A
// tile is `rows` query rows (tokens x heads that share a KV head) against a block of keys.
#pragma once
#include <cstddef>
#include <cstdint>

#include "backends/api/dtype.h"
#include "kernels/portable/isa.h"

namespace kvroof {

inline constexpr std::uint32_t kKeyBlock = 256;  // keys a step; a row of scores stays in L1

// The running softmax of a tile: acc[rows][width], and a maximum and a sum a row. Starts as zeros
// with maxima of kNoMaximum.
struct SoftmaxState {
  float* acc;
  float* maximum;
  float* sum;
};
inline constexpr float kNoMaximum = -1e30f;

// Void pointers are to elements of the table's type. `row_unit` divides `rows`; `width` is head_dim
// rounded up to a multiple of `panel`.
struct TileKernels {
  std::uint32_t panel, row_unit;
  // out[i] = in[i] * scale for head_dim elements.
  void (*load_query)(const void* in, float scale, std::uint32_t head_dim, float* out);
  // `count` (at most panel) key rows, transposed: out[head_dim][panel], zeros for absent keys.
  void (*pack_keys)(const void* const* rows, std::uint32_t count, std::uint32_t head_dim,
                    float* out);
  // One value row, padded with zeros to width.
  void (*pack_value)(const void* row, std::uint32_t head_dim, std::uint32_t width, float* out);
  // scores[i][j] = queries[i] . key j over panels of packed keys; scores has a stride of kKeyBlock.
  void (*scores)(const float* queries, std::uint32_t rows, const float* panels,
                 std::uint32_t panel_count, std::uint32_t head_dim, float* scores);
  // Turns one row of scores (base-2 logarithms) into weights and rescales what it has gathered. The
  // weights behind `visible` become 0, up to `count`.
  void (*soften)(float* scores, std::uint32_t visible, std::uint32_t count, std::uint32_t width,
                 float* acc, float* maximum, float* sum);
  // acc[i] += sum over j of weights[i][j] * value j over packed values.
  void (*weigh)(const float* weights, std::uint32_t rows, const float* values, std::uint32_t count,
                std::uint32_t width, float* acc);
  // out[i] = acc[i] / sum.
  void (*finish)(const float* acc, float sum, std::uint32_t head_dim, void* out);
};

// dtype is f32 or bf16; `isa` must run here.
const TileKernels& tile_kernels(DType dtype, Isa isa = best_isa());

}  // namespace kvroof
