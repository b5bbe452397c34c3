// SPDX-License-Identifier: Apache-2.0
// 2^x for loops that become vectors: no table, no branch, relative error under 3e-7.
#pragma once
#include <cstdint>

namespace kvroof {

inline constexpr float kLog2E = 1.44269504088896f;

// x below -126 gives about 2^-126 (softmax and sigmoid need no less); above 127 gives 2^127.
static inline float exp2_near(float x) {
  x = x < -126.0f ? -126.0f : x;
  x = x > 127.0f ? 127.0f : x;
  constexpr float kRound = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer
  const float shifted = x + kRound;
  const float f = x - (shifted - kRound);  // in [-0.5, 0.5]
  // The Taylor series of 2^f, whose next term is below 1.2e-7 there.
  float p = 1.5403530393381606e-4f;
  p = p * f + 1.3333558146428443e-3f;
  p = p * f + 9.6181291076284770e-3f;
  p = p * f + 5.5504108664821580e-2f;
  p = p * f + 2.4022650695910072e-1f;
  p = p * f + 6.9314718055994531e-1f;
  p = p * f + 1.0f;
  const auto exponent = __builtin_bit_cast(std::int32_t, shifted) << 23;  // drops kRound's own bits
  return __builtin_bit_cast(float, __builtin_bit_cast(std::int32_t, p) + exponent);
}

}  // namespace kvroof
