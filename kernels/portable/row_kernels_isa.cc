// SPDX-License-Identifier: Apache-2.0
// Specification: the formulas in row_kernels.h, one element at a time in float. These loops are
// that, with the running sum of norm() kept in several lanes. Compiled once for each instruction
// set; calls nothing of the standard library, whose inline functions the sets would share.
#include <cstdint>

#include "kernels/portable/bf16.h"
#include "kernels/portable/exp2.h"
#include "kernels/portable/row_kernels.h"

namespace kvroof::KVROOF_ISA {
namespace {

template <class T>
void norm(const void* x, void* residual, const void* weight, void* out, std::uint32_t width,
          float epsilon) {
  const T* in = static_cast<const T*>(x);
  T* sum = static_cast<T*>(residual);
  float squares = 0;
  if (in != nullptr) {
#pragma omp simd
    for (std::uint32_t i = 0; i < width; ++i) store(sum[i], to_float(sum[i]) + to_float(in[i]));
  }
#pragma omp simd reduction(+ : squares)
  for (std::uint32_t i = 0; i < width; ++i) squares += to_float(sum[i]) * to_float(sum[i]);
  const float scale = 1.0f / __builtin_sqrtf(squares / static_cast<float>(width) + epsilon);
  const T* by = static_cast<const T*>(weight);
  T* to = static_cast<T*>(out);
#pragma omp simd
  for (std::uint32_t i = 0; i < width; ++i) {
    store(to[i], to_float(sum[i]) * scale * to_float(by[i]));
  }
}

template <class T>
void silu_multiply(const void* gate, const void* up, void* out, std::uint32_t width) {
  const T* g = static_cast<const T*>(gate);
  const T* u = static_cast<const T*>(up);
  T* to = static_cast<T*>(out);
#pragma omp simd
  for (std::uint32_t i = 0; i < width; ++i) {
    const float x = to_float(g[i]);
    store(to[i], x / (1.0f + exp2_near(-kLog2E * x)) * to_float(u[i]));
  }
}

template <class T>
void rotate(const void* in, void* out, const float* cosine, const float* sine, std::uint32_t half) {
  const T *const low = static_cast<const T*>(in), *const high = low + half;
  T *const to_low = static_cast<T*>(out), *const to_high = to_low + half;
#pragma omp simd
  for (std::uint32_t i = 0; i < half; ++i) {
    const float x = to_float(low[i]), y = to_float(high[i]);
    store(to_low[i], x * cosine[i] - y * sine[i]);
    store(to_high[i], y * cosine[i] + x * sine[i]);
  }
}

template <class T>
void to_f32(const void* in, float* out, std::uint64_t count) {
  const T* from = static_cast<const T*>(in);
#pragma omp simd
  for (std::uint64_t i = 0; i < count; ++i) out[i] = to_float(from[i]);
}

template <class T>
void from_f32(const float* in, void* out, std::uint64_t count) {
  T* to = static_cast<T*>(out);
#pragma omp simd
  for (std::uint64_t i = 0; i < count; ++i) store(to[i], in[i]);
}

template <class T>
constexpr RowKernels table() {
  return {norm<T>, silu_multiply<T>, rotate<T>, to_f32<T>, from_f32<T>};
}

}  // namespace

extern const RowKernels kRowKernelsF32, kRowKernelsBf16;
const RowKernels kRowKernelsF32 = table<float>();
const RowKernels kRowKernelsBf16 = table<Bf16>();

}  // namespace kvroof::KVROOF_ISA
