// SPDX-License-Identifier: Apache-2.0
// Specification: scale = scale_of(to, largest finite |row[i]|); bytes[i] = encode(row[i] * (1 /
// scale)), and back row[i] = decode(bytes[i]) * scale. These loops are that. Compiled once for each
// instruction set; calls nothing of the standard library, whose inline functions the sets would
// share.
#include "kernels/portable/bf16.h"
#include "kernels/portable/quantise.h"

namespace kvroof::KVROOF_ISA {
namespace {

struct Fp8 {
  static constexpr DType kType = DType::fp8;
  static std::uint8_t encode(float value) { return encode_fp8(value); }
  static float decode(std::uint8_t byte) { return decode_fp8(byte); }
};

struct Int8 {
  static constexpr DType kType = DType::int8;
  static std::uint8_t encode(float value) { return encode_int8(value); }
  static float decode(std::uint8_t byte) { return decode_int8(byte); }
};

// Magnitudes order as their bits do.
template <class Wide>
float largest_finite(const Wide* row, std::uint32_t count) {
  std::uint32_t largest = 0;
#pragma omp simd reduction(max : largest)
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t bits = __builtin_bit_cast(std::uint32_t, to_float(row[i])) & 0x7fffffffu;
    const std::uint32_t finite = bits < 0x7f800000u ? bits : 0;
    largest = finite > largest ? finite : largest;
  }
  return __builtin_bit_cast(float, largest);
}

template <class Wide, class Narrow>
float quantise(const void* row, std::uint8_t* bytes, std::uint32_t count) {
  const Wide* from = static_cast<const Wide*>(row);
  const float scale = scale_of(Narrow::kType, largest_finite(from, count));
  const float factor = 1.0f / scale;
#pragma omp simd
  for (std::uint32_t i = 0; i < count; ++i) bytes[i] = Narrow::encode(to_float(from[i]) * factor);
  return scale;
}

template <class Wide, class Narrow>
void dequantise(const std::uint8_t* bytes, float scale, void* row, std::uint32_t count) {
  Wide* to = static_cast<Wide*>(row);
#pragma omp simd
  for (std::uint32_t i = 0; i < count; ++i) store(to[i], Narrow::decode(bytes[i]) * scale);
}

template <class Wide, class Narrow>
constexpr QuantiseKernels kernels() {
  return {quantise<Wide, Narrow>, dequantise<Wide, Narrow>};
}

}  // namespace

extern const QuantiseKernels kQuantiseKernels[2][2];
const QuantiseKernels kQuantiseKernels[2][2] = {{kernels<float, Fp8>(), kernels<float, Int8>()},
                                                {kernels<Bf16, Fp8>(), kernels<Bf16, Int8>()}};

}  // namespace kvroof::KVROOF_ISA
