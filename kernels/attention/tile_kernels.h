// SPDX-License-Identifier: Apache-2.0
// The inner loops of attention, compiled for every instruction set: a table of functions. They sum
// in f32, and multiply in f32 too but where the CPU multiplies bf16. A tile is `rows` query rows
// (tokens x heads that share a KV head) against a block of keys.
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

// Packed queries, keys, values and weights are words of 32 bits: one f32 each, or where `pair` is 2
// two bf16 that are adjacent along the axis that a product sums over (zero where the second is
// absent). Void pointers are to elements of the table's type. `row_unit` divides `rows`; `width` is
// head_dim rounded up to a multiple of `panel`; `depth` is head_dim / pair, rounded up.
struct TileKernels {
  std::uint32_t panel, row_unit, pair;
  // out[depth].
  void (*load_query)(const void* in, std::uint32_t head_dim, float* out);
  // `count` (at most panel) key rows, transposed: out[depth][panel], zeros for absent keys.
  void (*pack_keys)(const void* const* rows, std::uint32_t count, std::uint32_t head_dim,
                    float* out);
  // `count` (at most panel) value rows, in columns of `panel`: out[width / panel], `column` words
  // apart, of [count / pair, rounded up][panel]; zeros behind head_dim.
  void (*pack_values)(const void* const* rows, std::uint32_t count, std::uint32_t head_dim,
                      std::uint32_t width, std::uint64_t column, float* out);
  // scores[i][j] = queries[i] . key j over panels of packed keys; f32, with a stride of kKeyBlock.
  void (*scores)(const float* queries, std::uint32_t rows, const float* panels,
                 std::uint32_t panel_count, std::uint32_t depth, float* scores);
  // Turns one row of scores into packed weights 2^(scale * score - maximum), in place, and rescales
  // what it has gathered. The weights behind `visible` become 0, up to `count`. scale > 0.
  void (*soften)(float* scores, float scale, std::uint32_t visible, std::uint32_t count,
                 std::uint32_t width, float* acc, float* maximum, float* sum);
  // acc[i] += sum over j of weights[i][j] * value j over packed values, their columns `column`
  // words apart; weights have a stride of kKeyBlock.
  void (*weigh)(const float* weights, std::uint32_t rows, const float* values, std::uint32_t count,
                std::uint32_t width, std::uint64_t column, float* acc);
  // out[i] = acc[i] / sum.
  void (*finish)(const float* acc, float sum, std::uint32_t head_dim, void* out);
};

// dtype is f32 or bf16; `isa` must run here.
const TileKernels& tile_kernels(DType dtype, Isa isa = best_isa());

}  // namespace kvroof
