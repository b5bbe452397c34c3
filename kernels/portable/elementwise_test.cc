// SPDX-License-Identifier: Apache-2.0
#include "kernels/portable/elementwise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

#include "kernels/portable/paged_fixture.h"

namespace kvroof {
namespace {

using oracle::Blocks;
using oracle::distance;
using oracle::Order;
using oracle::PagedFixture;
using oracle::random_tensor;
using oracle::Tensor;
using oracle::tolerance;

struct RopeCase {
  std::uint32_t tokens, past, heads, kv_heads, head_dim, block_tokens;
};

class RopeAppendTest : public ::testing::TestWithParam<std::tuple<RopeCase, DType, Order, Blocks>> {
};

TEST_P(RopeAppendTest, RotatesQAndAppendsRotatedKAndV) {
  const RopeCase shape = std::get<0>(GetParam());
  const DType dtype = std::get<1>(GetParam());
  const Order order = std::get<2>(GetParam());
  const std::uint32_t d = shape.head_dim, half = d / 2,
                      row = (shape.heads + 2 * shape.kv_heads) * d;
  std::mt19937 random(shape.tokens);
  PagedFixture paged(dtype, order, shape.past + shape.tokens, shape.block_tokens, shape.kv_heads, d,
                     random, std::get<3>(GetParam()));
  Tensor qkv = random_tensor(dtype, shape.tokens * row, random);
  std::vector<float> frequency(half);
  for (std::uint32_t i = 0; i < half; ++i) {
    frequency[i] = static_cast<float>(std::pow(500000.0, -2.0 * i / d));
  }
  const std::vector<double> before = qkv.values();
  std::vector<double> wanted_cache = paged.cache.values(), wanted_q, got_q;
  const auto rotated = [&](std::uint32_t t, std::uint32_t head, std::uint32_t i) {
    const double angle = static_cast<double>(shape.past + t) * frequency[i % half];
    const double* x = before.data() + t * row + head * d;
    return i < half ? x[i] * std::cos(angle) - x[i + half] * std::sin(angle)
                    : x[i] * std::cos(angle) + x[i - half] * std::sin(angle);
  };
  for (std::uint32_t t = 0; t < shape.tokens; ++t) {
    for (std::uint32_t i = 0; i < shape.heads * d; ++i)
      wanted_q.push_back(rotated(t, i / d, i % d));
    for (std::uint32_t h = 0; h < shape.kv_heads; ++h) {
      for (std::uint32_t i = 0; i < d; ++i) {
        wanted_cache[paged.index(false, shape.past + t, h, i)] = rotated(t, shape.heads + h, i);
        wanted_cache[paged.index(true, shape.past + t, h, i)] =
            before[t * row + (shape.heads + shape.kv_heads + h) * d + i];
      }
    }
  }

  ASSERT_TRUE(
      rope_append({qkv.data(), frequency.data(), paged.view, shape.tokens, shape.past, shape.heads})
          .ok());
  for (std::uint32_t t = 0; t < shape.tokens; ++t) {
    for (std::uint32_t i = 0; i < shape.heads * d; ++i) got_q.push_back(qkv.at(t * row + i));
  }
  EXPECT_LT(distance(got_q, wanted_q), tolerance(dtype));
  EXPECT_LT(distance(paged.cache.values(), wanted_cache), tolerance(dtype));
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, RopeAppendTest,
    ::testing::Combine(::testing::Values(RopeCase{1, 0, 1, 1, 2, 1}, RopeCase{5, 0, 4, 2, 8, 4},
                                         RopeCase{33, 100'000, 8, 2, 64, 16},
                                         RopeCase{7, 29, 6, 3, 80, 64},
                                         RopeCase{700, 5, 4, 1, 32, 16}),
                       ::testing::Values(DType::f32, DType::bf16),
                       ::testing::Values(Order::nhd, Order::hnd, Order::packed),
                       ::testing::Values(Blocks::whole, Blocks::by_layer)));

TEST(RopeAppend, APositionHasTheSameBitsWhereverACallBegins) {
  constexpr std::uint32_t kTokens = 40, kCut = 21, kDim = 16, kRow = 3 * kDim;
  std::mt19937 random(2);
  PagedFixture whole(DType::f32, Order::nhd, kTokens, 4, 1, kDim, random), cut = whole;
  cut.view.cache = cut.cache.data();
  cut.view.block_table = cut.table.data();
  Tensor qkv = random_tensor(DType::f32, kTokens * kRow, random), same = qkv;
  const std::vector<float> frequency{1, 0.7f, 0.5f, 0.3f, 0.1f, 0.03f, 0.01f, 0.003f};
  ASSERT_TRUE(rope_append({qkv.data(), frequency.data(), whole.view, kTokens, 0, 1}).ok());
  ASSERT_TRUE(rope_append({same.data(), frequency.data(), cut.view, kCut, 0, 1}).ok());
  std::byte* const rest = same.data() + kCut * kRow * sizeof(float);
  ASSERT_TRUE(rope_append({rest, frequency.data(), cut.view, kTokens - kCut, kCut, 1}).ok());
  EXPECT_EQ(qkv.bytes, same.bytes);
  EXPECT_EQ(whole.cache.bytes, cut.cache.bytes);
}

TEST(RopeAppend, SequencesHaveTheBitsOfOpsOfTheirOwn) {
  constexpr std::uint32_t kSequences = 3, kDim = 16, kBlock = 4;
  const std::vector<float> frequency{1, 0.7f, 0.5f, 0.3f, 0.1f, 0.03f, 0.01f, 0.003f};
  for (const DType dtype : {DType::f32, DType::bf16}) {
    for (const auto& [tokens, past] : {std::pair{1u, 29u}, {21u, 6u}, {600u, 0u}}) {
      std::mt19937 random(tokens);
      const std::uint32_t blocks = (past + tokens + kBlock - 1) / kBlock;
      PagedFixture together(dtype, Order::nhd, kSequences * blocks * kBlock, kBlock, 2, kDim,
                            random);
      PagedFixture apart = together;
      together.view.cache = together.cache.data();
      together.view.block_table = together.table.data();
      apart.view.cache = apart.cache.data();
      const std::size_t row = 8 * kDim * bytes_of(dtype);  // four heads, and twice two
      Tensor qkv = random_tensor(dtype, kSequences * tokens * 8 * kDim, random), same = qkv;
      ASSERT_TRUE(
          rope_append({qkv.data(), frequency.data(), together.view, tokens, past, 4, kSequences})
              .ok());
      for (std::uint32_t s = 0; s < kSequences; ++s) {
        apart.view.block_table = apart.table.data() + s * blocks;
        std::byte* const own = same.data() + s * tokens * row;
        ASSERT_TRUE(rope_append({own, frequency.data(), apart.view, tokens, past, 4}).ok());
      }
      EXPECT_EQ(qkv.bytes, same.bytes);
      EXPECT_EQ(together.cache.bytes, apart.cache.bytes);
    }
  }
}

TEST(RopeAppend, ABlockOutsideTheCacheFailsAndWritesNothing) {
  std::mt19937 random(1);
  PagedFixture paged(DType::f32, Order::nhd, 20, 4, 1, 4, random);
  Tensor qkv = random_tensor(DType::f32, 20 * 12, random);
  const auto cache = paged.cache.bytes, row = qkv.bytes;
  const std::vector<float> frequency{1, 0.1f};
  for (std::int32_t bad : {-1, 8, INT32_MAX}) {
    paged.table[4] = bad;
    EXPECT_EQ(rope_append({qkv.data(), frequency.data(), paged.view, 20, 0, 1}).code, Code::failed);
    EXPECT_EQ(rope_append({qkv.data(), frequency.data(), paged.view, 4, 0, 1, 5}).code,
              Code::failed)
        << "of the last sequence";
    EXPECT_EQ(paged.cache.bytes, cache);
    EXPECT_EQ(qkv.bytes, row);
  }
}

// norm and activation share out rows: each must meet its own row of every operand.
TEST(Elementwise, EveryTokenGetsItsOwnRow) {
  constexpr std::uint32_t kTokens = 37, kWidth = 19;
  std::mt19937 random(3);
  Tensor x = random_tensor(DType::f32, kTokens * kWidth, random);
  Tensor sum = random_tensor(DType::f32, kTokens * kWidth, random), out = x;
  Tensor weight = random_tensor(DType::f32, kWidth, random);
  const std::vector<double> old = sum.values();
  std::vector<double> wanted(kTokens * kWidth);
  for (std::uint32_t t = 0; t < kTokens; ++t) {
    double squares = 0;
    for (std::uint32_t i = t * kWidth; i < (t + 1) * kWidth; ++i) {
      squares += std::pow(x.at(i) + old[i], 2);
    }
    for (std::uint32_t i = t * kWidth; i < (t + 1) * kWidth; ++i) {
      wanted[i] = (x.at(i) + old[i]) / std::sqrt(squares / kWidth + 1e-6) * weight.at(i % kWidth);
    }
  }
  norm({x.data(), sum.data(), weight.data(), out.data(), kTokens, kWidth, 1e-6f, DType::f32});
  EXPECT_LT(distance(out.values(), wanted), 1e-5);

  Tensor gate_up = random_tensor(DType::f32, 2 * kTokens * kWidth, random);
  for (std::uint32_t t = 0; t < kTokens; ++t) {
    for (std::uint32_t i = 0; i < kWidth; ++i) {
      const double gate = gate_up.at(t * 2 * kWidth + i);
      wanted[t * kWidth + i] =
          gate / (1 + std::exp(-gate)) * gate_up.at(t * 2 * kWidth + kWidth + i);
    }
  }
  activation({gate_up.data(), out.data(), kTokens, kWidth, DType::f32});
  EXPECT_LT(distance(out.values(), wanted), 1e-5);
}

}  // namespace
}  // namespace kvroof
