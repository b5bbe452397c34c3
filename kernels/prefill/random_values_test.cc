// SPDX-License-Identifier: Apache-2.0
#include "kernels/prefill/random_values.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace kvroof {
namespace {

TEST(RandomValues, DependOnTheCounterAlone) {
  for (const DType dtype : {DType::f32, DType::bf16}) {
    const RandomTensor tensor{7, 3, 0, 0.5f, dtype};
    const std::uint64_t element = bytes_of(dtype);
    std::vector<std::byte> whole(1001 * element), tail(500 * element), other(whole.size());
    fill_random(tensor, 0, whole);
    fill_random(tensor, 501, tail);
    EXPECT_TRUE(std::equal(tail.begin(), tail.end(), whole.end() - tail.size()));
    fill_random({7, 4, 0, 0.5f, dtype}, 0, other);
    EXPECT_NE(whole, other) << "another tensor";
    fill_random({8, 3, 0, 0.5f, dtype}, 0, other);
    EXPECT_NE(whole, other) << "another seed";
  }
}

TEST(RandomValues, AreUniformAroundTheirCenter) {
  std::vector<float> values(100000);
  fill_random({1, 0, 1, 0.1f, DType::f32}, (1ull << 32) - 50000,
              std::as_writable_bytes(std::span(values)));
  double sum = 0, squares = 0;
  for (const float v : values) {
    ASSERT_GE(v, 0.9f);
    ASSERT_LE(v, 1.1f);
    sum += v - 1.0;
    squares += (v - 1.0) * (v - 1.0);
  }
  EXPECT_NEAR(sum / 1e5, 0, 0.001);              // 5 standard errors: 0.1 / sqrt(3e5) * 5
  EXPECT_NEAR(squares / 1e5, 0.01 / 3, 0.0001);  // variance of a uniform: reach^2 / 3
  EXPECT_NE(values[0], values[50000]) << "the counter's upper half counts";
}

}  // namespace
}  // namespace kvroof
