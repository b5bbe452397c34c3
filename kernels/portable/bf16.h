// SPDX-License-Identifier: Apache-2.0
// bfloat16: the upper half of a float. Rounds to nearest, ties to even; a NaN stays one. Everything
// here has internal linkage, so that a file compiled for a newer instruction set can't lend its
// code to one that must run without it.
#pragma once
#include <cstdint>

namespace kvroof {

struct Bf16 {
  std::uint16_t bits;
};

static inline float to_float(float value) { return value; }

static inline float to_float(Bf16 value) {
  return __builtin_bit_cast(float, static_cast<std::uint32_t>(value.bits) << 16);
}

static inline void store(float& out, float value) { out = value; }

static inline void store(Bf16& out, float value) {
  const auto bits = __builtin_bit_cast(std::uint32_t, value);
  const std::uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  const std::uint32_t quiet = (bits >> 16) | 0x40u;
  const bool nan = (bits & 0x7fffffffu) > 0x7f800000u;
  out.bits = static_cast<std::uint16_t>(nan ? quiet : rounded);
}

}  // namespace kvroof
