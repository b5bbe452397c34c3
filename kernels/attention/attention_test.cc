// SPDX-License-Identifier: Apache-2.0
#include "kernels/attention/attention.h"

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

struct Shape {
  std::uint32_t tokens, past, heads, kv_heads, head_dim, block_tokens;
  std::uint32_t row_gap = 0;  // elements between rows of q, as in a packed qkv
};

std::vector<double> reference(const Shape& shape, double scale, const Tensor& q,
                              const PagedFixture& paged) {
  const std::uint32_t d = shape.head_dim, row = shape.heads * d + shape.row_gap;
  std::vector<double> out(std::size_t{shape.tokens} * shape.heads * d);
  for (std::uint32_t t = 0; t < shape.tokens; ++t) {
    for (std::uint32_t h = 0; h < shape.heads; ++h) {
      const std::uint32_t g = h / (shape.heads / shape.kv_heads), keys = shape.past + t + 1;
      std::vector<double> weight(keys);
      double top = -INFINITY, sum = 0;
      for (std::uint32_t j = 0; j < keys; ++j) {
        double dot = 0;
        for (std::uint32_t i = 0; i < d; ++i) dot += q.at(t * row + h * d + i) * paged.k(j, g, i);
        weight[j] = dot * scale;
        top = std::max(top, weight[j]);
      }
      for (double& w : weight) sum += w = std::exp(w - top);
      for (std::uint32_t j = 0; j < keys; ++j) {
        for (std::uint32_t i = 0; i < d; ++i) {
          out[(std::size_t{t} * shape.heads + h) * d + i] += weight[j] / sum * paged.v(j, g, i);
        }
      }
    }
  }
  return out;
}

class AttentionTest
    : public ::testing::TestWithParam<std::tuple<Shape, DType, Order, Blocks, Isa>> {};

TEST_P(AttentionTest, EqualsThePlainSoftmaxInDouble) {
  const auto& [shape, dtype, order, blocks, isa] = GetParam();
  if (!runs_here(isa)) GTEST_SKIP() << "this CPU lacks " << name(isa);
  std::mt19937 random(shape.tokens * 31 + shape.past);
  PagedFixture paged(dtype, order, shape.past + shape.tokens, shape.block_tokens, shape.kv_heads,
                     shape.head_dim, random, blocks);
  const std::uint32_t row = shape.heads * shape.head_dim + shape.row_gap;
  Tensor q = random_tensor(dtype, std::size_t{shape.tokens} * row, random);
  Tensor out(dtype, std::size_t{shape.tokens} * shape.heads * shape.head_dim);
  // Larger than 1 / sqrt(head_dim), so that the weights are far from uniform.
  const float scale = 3.0f / std::sqrt(static_cast<float>(shape.head_dim));
  AttentionKernel kernel(isa);
  const AttentionArgs args{q.data(),     out.data(), row * bytes_of(dtype), paged.view,
                           shape.tokens, shape.past, shape.heads,           scale};
  ASSERT_TRUE(kernel.run(args).ok());
  EXPECT_LT(distance(out.values(), reference(shape, scale, q, paged)), tolerance(dtype));
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, AttentionTest,
    ::testing::Combine(::testing::Values(Shape{1, 0, 1, 1, 2, 1}, Shape{1, 700, 4, 2, 64, 16, 10},
                                         Shape{3, 300, 8, 2, 40, 5}, Shape{17, 0, 4, 4, 64, 16},
                                         Shape{100, 0, 4, 1, 64, 16, 128},
                                         Shape{45, 517, 6, 2, 80, 64}, Shape{130, 131, 5, 1, 36, 7},
                                         Shape{261, 0, 2, 2, 128, 16}),
                       ::testing::Values(DType::f32, DType::bf16),
                       ::testing::Values(Order::nhd, Order::hnd, Order::packed),
                       ::testing::Values(Blocks::whole, Blocks::by_layer),
                       ::testing::ValuesIn(kIsas)));

TEST(Attention, ScoresOfAnyMagnitudeStayFinite) {
  std::mt19937 random(1);
  const Shape shape{20, 0, 2, 1, 8, 4};
  PagedFixture paged(DType::f32, Order::nhd, 20, 4, 1, 8, random);
  Tensor q = random_tensor(DType::f32, 20 * 16, random), out = q;
  AttentionKernel kernel;
  ASSERT_TRUE(kernel.run({q.data(), out.data(), 64, paged.view, 20, 0, 2, 1e4f}).ok());
  // A score of 10^4 rounds to 10^-3, and so does the weight.
  EXPECT_LT(distance(out.values(), reference(shape, 1e4f, q, paged)), 1e-2);
}

TEST(Attention, LaterKeysAreNeverRead) {
  std::mt19937 random(2);
  PagedFixture paged(DType::f32, Order::nhd, 40, 4, 1, 8, random);
  Tensor q = random_tensor(DType::f32, 40 * 32, random), whole(DType::f32, 40 * 32), part = whole;
  AttentionKernel kernel;
  ASSERT_TRUE(kernel.run({q.data(), whole.data(), 128, paged.view, 40, 0, 4, 0.3f}).ok());
  for (std::uint32_t t = 20; t < 40; ++t) {
    for (std::uint32_t i = 0; i < 8; ++i) {
      paged.cache.set(paged.index(false, t, 0, i), NAN);
      paged.cache.set(paged.index(true, t, 0, i), NAN);
    }
  }
  ASSERT_TRUE(kernel.run({q.data(), part.data(), 128, paged.view, 20, 0, 4, 0.3f}).ok());
  for (std::size_t i = 0; i < 20 * 32; ++i) EXPECT_NEAR(part.at(i), whole.at(i), 1e-5);
}

TEST(Attention, SequencesHaveTheBitsOfOpsOfTheirOwn) {
  constexpr std::uint32_t kSequences = 3, kBlock = 4, kHeads = 4, kKvHeads = 2, kDim = 16;
  for (const DType dtype : {DType::f32, DType::bf16}) {
    for (const auto& [tokens, past] : {std::pair{1u, 300u}, {7u, 18u}, {130u, 13u}}) {
      std::mt19937 random(tokens);
      const std::uint32_t blocks = (past + tokens + kBlock - 1) / kBlock;
      PagedFixture paged(dtype, Order::nhd, kSequences * blocks * kBlock, kBlock, kKvHeads, kDim,
                         random);
      const std::uint64_t out_row = kHeads * kDim * bytes_of(dtype), q_row = 2 * out_row;
      Tensor q = random_tensor(dtype, kSequences * tokens * 2 * kHeads * kDim, random);
      Tensor together(dtype, kSequences * tokens * kHeads * kDim), apart = together;
      AttentionKernel kernel;
      ASSERT_TRUE(kernel
                      .run({q.data(), together.data(), q_row, paged.view, tokens, past, kHeads,
                            0.3f, kSequences})
                      .ok());
      for (std::uint32_t s = 0; s < kSequences; ++s) {
        PagedView own = paged.view;
        own.block_table += s * blocks;
        ASSERT_TRUE(kernel
                        .run({q.data() + s * tokens * q_row, apart.data() + s * tokens * out_row,
                              q_row, own, tokens, past, kHeads, 0.3f})
                        .ok());
      }
      EXPECT_EQ(together.bytes, apart.bytes);
    }
  }
}

TEST(Attention, ABlockOutsideTheCacheFailsAndWritesNothing) {
  std::mt19937 random(1);
  PagedFixture paged(DType::bf16, Order::hnd, 20, 4, 1, 8, random);
  Tensor q = random_tensor(DType::bf16, 20 * 8, random), out = q;
  AttentionKernel kernel;
  for (std::int32_t bad : {-1, 8, INT32_MAX}) {
    paged.table[2] = bad;
    EXPECT_EQ(kernel.run({q.data(), out.data(), 16, paged.view, 20, 0, 1, 1}).code, Code::failed);
    EXPECT_EQ(kernel.run({q.data(), out.data(), 16, paged.view, 4, 0, 1, 1, 5}).code, Code::failed)
        << "of the third sequence";
    EXPECT_EQ(out.bytes, q.bytes);
  }
}

}  // namespace
}  // namespace kvroof
