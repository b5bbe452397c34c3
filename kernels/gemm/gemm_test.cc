// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm/gemm.h"

#include <gtest/gtest.h>

#include <tuple>

#include "kernels/gemm/gemm_rate.h"
#include "kernels/gemm/product.h"
#include "kernels/portable/oracle.h"

namespace kvroof {
namespace {

using oracle::distance;
using oracle::random_tensor;
using oracle::Tensor;
using oracle::tolerance;

std::shared_ptr<std::byte> plenty(std::uint64_t bytes) {
  return {new std::byte[bytes], std::default_delete<std::byte[]>()};
}
std::shared_ptr<std::byte> nothing(std::uint64_t) { return nullptr; }

std::vector<double> reference(const Tensor& a, const Tensor& b, const GemmShape& shape) {
  std::vector<double> c(std::size_t{shape.m} * shape.n);
  for (std::size_t i = 0; i < shape.m; ++i) {
    for (std::size_t j = 0; j < shape.n; ++j) {
      for (std::size_t l = 0; l < shape.k; ++l) {
        c[i * shape.n + j] += a.at(i * shape.k + l) * b.at(j * shape.k + l);
      }
    }
  }
  return c;
}

using Case = std::tuple<GemmShape, DType, DType>;

class GemmTest : public ::testing::TestWithParam<Case> {};

TEST_P(GemmTest, EqualsThePlainLoopInDouble) {
  const auto& [shape, dtype, out_dtype] = GetParam();
  if (dtype == DType::f32 && out_dtype != dtype) GTEST_SKIP() << "f32 products stay f32";
  std::mt19937 random(shape.m);
  Tensor a = random_tensor(dtype, std::size_t{shape.m} * shape.k, random);
  Tensor b = random_tensor(dtype, std::size_t{shape.n} * shape.k, random);
  const std::vector<double> wanted = reference(a, b, shape);
  for (const bool keep : {false, true}) {
    for (const PackAllocator& allocate : {PackAllocator(plenty), PackAllocator(nothing)}) {
      GemmKernel kernel(allocate);
      for (int pass = 0; pass < 2; ++pass) {
        Tensor c(out_dtype, wanted.size());
        ASSERT_TRUE(kernel
                        .run({a.data(), b.data(), c.data(), shape.m, shape.n, shape.k, dtype,
                              out_dtype, keep})
                        .ok());
        EXPECT_LT(distance(c.values(), wanted), tolerance(dtype));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, GemmTest,
    ::testing::Combine(::testing::Values(GemmShape{1, 1, 1}, GemmShape{1, 300, 64},
                                         GemmShape{17, 33, 65}, GemmShape{64, 96, 128},
                                         GemmShape{150, 70, 40}, GemmShape{129, 257, 96}),
                       ::testing::Values(DType::f32, DType::bf16),
                       ::testing::Values(DType::f32, DType::bf16)));

TEST(Gemm, FollowsItsWeightsWhenTheyChange) {
  const GemmShape shape{64, 64, 64};
  for (DType dtype : {DType::f32, DType::bf16}) {
    std::mt19937 random(1);
    Tensor a = random_tensor(dtype, 64 * 64, random), b = random_tensor(dtype, 64 * 64, random);
    Tensor c(dtype, 64 * 64);
    GemmKernel kernel(plenty);
    const GemmArgs args{a.data(), b.data(), c.data(), 64, 64, 64, dtype, dtype, true};
    ASSERT_TRUE(kernel.run(args).ok());
    b.set(64 * 64 - 1, 100);
    kernel.forget(b.data() + b.bytes.size() - 1, 1);
    EXPECT_EQ(kernel.packed_bytes(), 0u);
    ASSERT_TRUE(kernel.run(args).ok());
    EXPECT_LT(distance(c.values(), reference(a, b, shape)), tolerance(dtype));
  }
}

class WeightCacheTest : public ::testing::Test {
 protected:
  std::shared_ptr<std::byte> get(std::size_t from, std::size_t bytes, std::int64_t format = 0) {
    return cache_.get({memory_ + from, bytes, {format}}, 8, [&](std::byte*) { ++packs_; });
  }
  std::byte memory_[1000];
  WeightCache cache_{plenty};
  int packs_ = 0;
};

TEST_F(WeightCacheTest, PacksOnceAFormat) {
  get(0, 100), get(0, 100), get(0, 100, 1);
  EXPECT_EQ(packs_, 2);
  EXPECT_EQ(cache_.bytes(), 16u);
}

TEST_F(WeightCacheTest, ForgetsExactlyWhatOverlaps) {
  get(0, 100), get(100, 500), get(600, 100), get(100, 50);
  cache_.forget(memory_ + 599, 1);
  EXPECT_EQ(cache_.bytes(), 24u);
  cache_.forget(memory_ + 99, 2);
  EXPECT_EQ(cache_.bytes(), 8u);
  cache_.forget(memory_ + 700, 100);
  cache_.forget(memory_ + 600, 0);
  EXPECT_EQ(cache_.bytes(), 8u);
}

TEST_F(WeightCacheTest, AWriteWhilePackingSpoilsTheCopy) {
  const auto copy =
      cache_.get({memory_, 100, {}}, 8, [&](std::byte*) { cache_.forget(memory_ + 50, 1); });
  EXPECT_NE(copy, nullptr);
  EXPECT_EQ(cache_.bytes(), 0u);
  cache_.get({memory_, 100, {}}, 8, [&](std::byte*) { cache_.forget(memory_ + 100, 1); });
  EXPECT_EQ(cache_.bytes(), 8u);
}

TEST_F(WeightCacheTest, ACopyInUseOutlivesItsEntry) {
  const auto held = get(0, 100);
  cache_.clear();
  EXPECT_EQ(cache_.bytes(), 0u);
  held.get()[0] = std::byte{1};
  EXPECT_EQ(held.use_count(), 1);
}

TEST(GemmRate, IsPositiveWhereOnednnHasTheType) {
  const GemmShape shape{32, 32, 32};
  EXPECT_GT(gemm_rate(shape, DType::f32, 1), 0);
  EXPECT_EQ(gemm_rate(shape, DType::bf16, 1) > 0, onednn_has_bf16());
  EXPECT_GE(best_gemm_rate({&shape, 1}, DType::f32, 3), 0);
}

}  // namespace
}  // namespace kvroof
