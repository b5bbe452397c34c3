// SPDX-License-Identifier: Apache-2.0
// Specification: scores[i][j] = sum over l of q[i][l] * k[j][l]; weights = 2^(scale * scores -
// max); acc[i][c] += sum over j of weights[i][j] * v[j][c]; out = acc / sum of weights. The
// products go through one register-blocked multiply(); compiled once for each instruction set, and
// calls nothing of the standard library, whose inline functions the sets would share.
#include "kernels/attention/tile_kernels.h"
#include "kernels/portable/bf16.h"
#include "kernels/portable/exp2.h"

namespace kvroof::KVROOF_ISA {
namespace {

// kRows x 2 vectors of sums, two vectors of b and one element of a fill the register file.
#if defined(__AVX512F__)
constexpr int kLanes = 16, kRows = 12;
#elif defined(__AVX2__)
constexpr int kLanes = 8, kRows = 6;
#else
constexpr int kLanes = 4, kRows = 6;
#endif
constexpr std::uint32_t kPanel = 2 * kLanes;

typedef float Vector __attribute__((vector_size(4 * kLanes), aligned(4), may_alias));

inline Vector load(const float* from) { return *reinterpret_cast<const Vector*>(from); }
inline void save(float* to, Vector value) { *reinterpret_cast<Vector*>(to) = value; }

// c[kRows][kPanel] = (kAdd ? c : 0) + a[kRows][depth] * b[depth][kPanel], strides in elements.
template <bool kAdd>
inline void multiply(const float* a, std::uint64_t a_stride, const float* b, std::uint64_t b_stride,
                     std::uint32_t depth, float* c, std::uint64_t c_stride) {
  Vector sums[kRows][2];
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
    sums[i][0] = kAdd ? load(c + i * c_stride) : Vector{};
    sums[i][1] = kAdd ? load(c + i * c_stride + kLanes) : Vector{};
  }
  for (std::uint32_t l = 0; l < depth; ++l, b += b_stride) {
    const Vector low = load(b), high = load(b + kLanes);
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
      const float scalar = a[i * a_stride + l];
      sums[i][0] += scalar * low;
      sums[i][1] += scalar * high;
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
    save(c + i * c_stride, sums[i][0]);
    save(c + i * c_stride + kLanes, sums[i][1]);
  }
}

template <class T>
void load_query(const void* in, std::uint32_t head_dim, float* out) {
  const T* from = static_cast<const T*>(in);
#pragma omp simd
  for (std::uint32_t i = 0; i < head_dim; ++i) out[i] = to_float(from[i]);
}

template <class T>
void pack_keys(const void* const* rows, std::uint32_t count, std::uint32_t head_dim, float* out) {
  for (std::uint32_t j = 0; j < kPanel; ++j) {
    const T* row = j < count ? static_cast<const T*>(rows[j]) : nullptr;
    for (std::uint32_t l = 0; l < head_dim; ++l) {
      out[l * kPanel + j] = row != nullptr ? to_float(row[l]) : 0.0f;
    }
  }
}

template <class T>
void pack_values(const void* const* rows, std::uint32_t count, std::uint32_t head_dim,
                 std::uint32_t width, std::uint64_t column, float* out) {
  for (std::uint32_t j = 0; j < count; ++j, out += kPanel) {
    const T* from = static_cast<const T*>(rows[j]);
    float* to = out;
    for (std::uint32_t c = 0; c < width; c += kPanel, to += column) {
      const std::uint32_t left = c < head_dim ? head_dim - c : 0;
      const std::uint32_t present = left < kPanel ? left : kPanel;
#pragma omp simd
      for (std::uint32_t i = 0; i < present; ++i) to[i] = to_float(from[c + i]);
      for (std::uint32_t i = present; i < kPanel; ++i) to[i] = 0.0f;
    }
  }
}

void scores(const float* queries, std::uint32_t rows, const float* panels,
            std::uint32_t panel_count, std::uint32_t head_dim, float* out) {
  for (std::uint32_t p = 0; p < panel_count; ++p) {
    const float* panel = panels + p * static_cast<std::uint64_t>(kPanel) * head_dim;
    for (std::uint32_t i = 0; i < rows; i += kRows) {
      multiply<false>(queries + i * static_cast<std::uint64_t>(head_dim), head_dim, panel, kPanel,
                      head_dim, out + i * kKeyBlock + p * kPanel, kKeyBlock);
    }
  }
}

void soften(float* row, float scale, std::uint32_t visible, std::uint32_t count,
            std::uint32_t width, float* acc, float* maximum, float* sum) {
  float top = *maximum;
#pragma omp simd reduction(max : top)
  for (std::uint32_t j = 0; j < visible; ++j) top = row[j] * scale > top ? row[j] * scale : top;
  float total = 0;
#pragma omp simd reduction(+ : total)
  for (std::uint32_t j = 0; j < visible; ++j) {
    const float weight = exp2_near(row[j] * scale - top);
    row[j] = weight;
    total += weight;
  }
  for (std::uint32_t j = visible; j < count; ++j) row[j] = 0.0f;
  if (top != *maximum) {
    const float shrink = exp2_near(*maximum - top);
    *sum *= shrink;
#pragma omp simd
    for (std::uint32_t c = 0; c < width; ++c) acc[c] *= shrink;
  }
  *sum += total;
  *maximum = top;
}

void weigh(const float* weights, std::uint32_t rows, const float* values, std::uint32_t count,
           std::uint32_t width, std::uint64_t column, float* acc) {
  for (std::uint32_t c = 0; c < width; c += kPanel, values += column) {
    for (std::uint32_t i = 0; i < rows; i += kRows) {
      multiply<true>(weights + i * kKeyBlock, kKeyBlock, values, kPanel, count,
                     acc + i * static_cast<std::uint64_t>(width) + c, width);
    }
  }
}

template <class T>
void finish(const float* acc, float sum, std::uint32_t head_dim, void* out) {
  T* to = static_cast<T*>(out);
  const float scale = 1.0f / sum;
#pragma omp simd
  for (std::uint32_t i = 0; i < head_dim; ++i) store(to[i], acc[i] * scale);
}

template <class T>
constexpr TileKernels table() {
  return {kPanel,         kRows,  1,      load_query<T>, pack_keys<T>,
          pack_values<T>, scores, soften, weigh,         finish<T>};
}

}  // namespace

extern const TileKernels kTileKernelsF32, kTileKernelsBf16;
const TileKernels kTileKernelsF32 = table<float>();
const TileKernels kTileKernelsBf16 = table<Bf16>();

}  // namespace kvroof::KVROOF_ISA
