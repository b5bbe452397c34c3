// SPDX-License-Identifier: Apache-2.0
#include "kernels/prefill/rope_table.h"

#include <gtest/gtest.h>

namespace kvroof {
namespace {

// Llama 3.1: theta 500,000, head_dim 128, factor 8, low 1, high 4, original 8192. By hand: i = 0 is
// 1 (wavelength 6.3, short, unchanged); i = 63 is 500000^(-126/128) / 8 (wavelength 2.6e6, long).
TEST(RopeTable, StretchesLongWavesAsLlama3Does) {
  ModelShape shape;
  shape.head_dim = 128;
  shape.rope_theta = 500000;
  const auto plain = inverse_frequencies(shape);
  shape.rope_scaling = RopeScaling{8, 1, 4, 8192};
  const auto scaled = inverse_frequencies(shape);
  ASSERT_EQ(scaled.size(), 64u);
  EXPECT_FLOAT_EQ(scaled[0], 1);
  EXPECT_NEAR(scaled[63], 3.06893e-7, 1e-12);
  EXPECT_FLOAT_EQ(scaled[63], plain[63] / 8);
  for (std::size_t i = 1; i < 64; ++i) {
    EXPECT_LT(scaled[i], scaled[i - 1]);
    EXPECT_LE(scaled[i], plain[i]);
    EXPECT_GE(scaled[i], plain[i] / 8.001f);
  }
}

}  // namespace
}  // namespace kvroof
