// SPDX-License-Identifier: Apache-2.0
// Rows of numbers in one byte each, with one f32 scale a row (in a KV cache: a token and head): fp8
// is the Open Compute Project's e4m3fn, int8 is symmetric. A number is its byte's value times the
// scale. The one-element functions are the specification of the row kernels, which give the same
// bytes and scales on every instruction set; they have internal linkage, as those of bf16.h.
#pragma once
#include <cstdint>

#include "backends/api/dtype.h"
#include "kernels/portable/isa.h"

namespace kvroof {

// What a row's largest magnitude becomes: e4m3's largest number, and int8's without -128.
inline constexpr float kFp8Largest = 448.0f, kInt8Largest = 127.0f;

// A scale is at least this (the least normal float), so that its reciprocal is finite. So is the
// scale of a row of zeros.
inline constexpr float kLeastScale = 0x1p-126f;

// To the nearest, ties to even; beyond 448, and infinity, becomes 448; a NaN stays one.
static inline std::uint8_t encode_fp8(float value) {
  const auto bits = __builtin_bit_cast(std::uint32_t, value);
  const std::uint32_t sign = bits >> 24 & 0x80u, size = bits & 0x7fffffffu;
  const std::uint32_t kept = size < 0x43e00000u ? size : 0x43e00000u;  // 448
  const std::uint32_t normal = ((kept + 0x7ffffu + (kept >> 20 & 1u)) >> 20) - (120u << 3);
  // Below 2^-6 the steps are of 2^-9, and adding 2^14 rounds to them.
  const float shifted = __builtin_bit_cast(float, kept) + 0x1p14f;
  const std::uint32_t small = __builtin_bit_cast(std::uint32_t, shifted) & 0xfu;
  const std::uint32_t finite = kept < 0x3c800000u ? small : normal;
  return static_cast<std::uint8_t>(sign | (size > 0x7f800000u ? 0x7fu : finite));
}

// Exact. Bytes 0x7f and 0xff are NaNs.
static inline float decode_fp8(std::uint8_t byte) {
  const std::uint32_t size = byte & 0x7fu;
  const float normal = __builtin_bit_cast(float, (size << 20) + (120u << 23));
  const float small = static_cast<float>(static_cast<std::int32_t>(size)) * 0x1p-9f;
  const float finite = size < 8 ? small : normal;
  const auto bits = size == 0x7fu ? 0x7fc00000u : __builtin_bit_cast(std::uint32_t, finite);
  return __builtin_bit_cast(float, bits | (byte & 0x80u) << 24);
}

// To the nearest, ties to even, within -127 .. 127; a NaN becomes 0.
static inline std::uint8_t encode_int8(float value) {
  const float low = value > -kInt8Largest ? value : -kInt8Largest;
  const float kept = low < kInt8Largest ? low : kInt8Largest;
  constexpr float kRound = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer
  const auto rounded = __builtin_bit_cast(std::uint32_t, kept + kRound);
  return static_cast<std::uint8_t>(value == value ? rounded : 0);
}

static inline float decode_int8(std::uint8_t byte) {
  return static_cast<float>(static_cast<std::int8_t>(byte));
}

// Of a row whose largest finite magnitude is `largest`: then its reciprocal is what numbers are
// multiplied by before they are encoded.
static inline float scale_of(DType to, float largest) {
  const float scale = largest / (to == DType::fp8 ? kFp8Largest : kInt8Largest);
  return scale > kLeastScale ? scale : kLeastScale;
}

// How far a finite number may be off that went to `to` with `scale` and came back as bf16: half a
// step of `to` there, and half a step of bf16. A share of 2^-20 is for the product with the scale's
// reciprocal.
static inline double quantise_error_bound(DType to, float scale, double value) {
  const double size = value < 0 ? -value : value;
  const double relative = size * 0x1p-4, least = scale * 0x1p-10;
  const double half_step = to == DType::int8 ? scale * 0.5 : relative > least ? relative : least;
  return (size + half_step) * (0x1p-9 + 0x1p-20) + half_step;
}

// Pointers are to elements of the table's types.
struct QuantiseKernels {
  // Writes `count` bytes and returns the scale, that of the largest finite magnitude in the row.
  float (*quantise)(const void* row, std::uint8_t* bytes, std::uint32_t count);
  // row[i] = number of bytes[i] * scale.
  void (*dequantise)(const std::uint8_t* bytes, float scale, void* row, std::uint32_t count);
};

// `wide` is f32 or bf16, `narrow` fp8 or int8; `isa` must run here.
const QuantiseKernels& quantise_kernels(DType wide, DType narrow, Isa isa = best_isa());

}  // namespace kvroof
