// SPDX-License-Identifier: Apache-2.0
#include "kernels/portable/row_kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

#include "kernels/portable/exp2.h"
#include "kernels/portable/oracle.h"

namespace kvroof {
namespace {

using oracle::distance;
using oracle::random_tensor;
using oracle::Tensor;
using oracle::tolerance;

TEST(Bf16, RoundsToNearestEvenAndKeepsNans) {
  const auto round = [](float value) {
    Bf16 out;
    store(out, value);
    return out.bits;
  };
  EXPECT_EQ(round(1.0f), 0x3f80);
  EXPECT_EQ(round(__builtin_bit_cast(float, 0x3f808000u)), 0x3f80);  // a tie, to even
  EXPECT_EQ(round(__builtin_bit_cast(float, 0x3f818000u)), 0x3f82);  // a tie, to even
  EXPECT_EQ(round(__builtin_bit_cast(float, 0x3f808001u)), 0x3f81);
  EXPECT_EQ(round(INFINITY), 0x7f80);
  EXPECT_TRUE(std::isnan(to_float(Bf16{round(__builtin_bit_cast(float, 0x7f800001u))})));
}

TEST(Exp2, IsWithinItsBoundOverTheWholeRange) {
  for (double x = -125.9; x < 127; x += 0.0137) {
    const double wanted = std::exp2(static_cast<float>(x));
    EXPECT_LT(std::abs(exp2_near(static_cast<float>(x)) / wanted - 1), 3e-7) << x;
  }
  EXPECT_LT(exp2_near(-INFINITY), 2e-38f);
}

class RowKernelsTest : public ::testing::TestWithParam<std::tuple<Isa, DType>> {
 protected:
  void SetUp() override {
    if (!runs_here(isa())) GTEST_SKIP() << "this CPU lacks " << name(isa());
  }
  Isa isa() const { return std::get<0>(GetParam()); }
  DType dtype() const { return std::get<1>(GetParam()); }
  const RowKernels& rows() const { return row_kernels(dtype(), isa()); }

  std::mt19937 random_{7};
};

TEST_P(RowKernelsTest, NormAddsThenScales) {
  for (std::uint32_t width : {1u, 7u, 64u, 1003u}) {
    for (bool with_x : {true, false}) {
      Tensor x = random_tensor(dtype(), width, random_),
             sum = random_tensor(dtype(), width, random_);
      Tensor weight = random_tensor(dtype(), width, random_), out(dtype(), width);
      std::vector<double> wanted_sum(width), wanted(width);
      double squares = 0;
      for (std::uint32_t i = 0; i < width; ++i) {
        wanted_sum[i] = sum.at(i) + (with_x ? x.at(i) : 0);
        squares += wanted_sum[i] * wanted_sum[i];
      }
      for (std::uint32_t i = 0; i < width; ++i) {
        wanted[i] = wanted_sum[i] / std::sqrt(squares / width + 1e-5) * weight.at(i);
      }
      rows().norm(with_x ? x.data() : nullptr, sum.data(), weight.data(), out.data(), width, 1e-5f);
      EXPECT_LT(distance(sum.values(), wanted_sum), tolerance(dtype())) << width;
      EXPECT_LT(distance(out.values(), wanted), tolerance(dtype())) << width;
    }
  }
}

TEST_P(RowKernelsTest, SiluMultiplies) {
  for (std::uint32_t width : {1u, 7u, 64u, 1003u}) {
    Tensor gate = random_tensor(dtype(), width, random_),
           up = random_tensor(dtype(), width, random_);
    for (std::uint32_t i = 0; i < width; ++i) gate.set(i, gate.at(i) * 30);
    Tensor out(dtype(), width);
    std::vector<double> wanted(width);
    for (std::uint32_t i = 0; i < width; ++i) {
      wanted[i] = gate.at(i) / (1 + std::exp(-gate.at(i))) * up.at(i);
    }
    rows().silu_multiply(gate.data(), up.data(), out.data(), width);
    EXPECT_LT(distance(out.values(), wanted), tolerance(dtype())) << width;
  }
}

TEST_P(RowKernelsTest, SiluOfTheExtremesIsFinite) {
  Tensor gate(dtype(), 2), up(dtype(), 2), out(dtype(), 2);
  gate.set(0, 300), gate.set(1, -300), up.set(0, 1), up.set(1, 1);
  rows().silu_multiply(gate.data(), up.data(), out.data(), 2);
  EXPECT_NEAR(out.at(0), 300, 300 * tolerance(dtype()));
  EXPECT_NEAR(out.at(1), 0, 1e-30);
}

TEST_P(RowKernelsTest, RotatesHalvesInPlace) {
  for (std::uint32_t half : {1u, 5u, 32u, 64u}) {
    Tensor head = random_tensor(dtype(), 2 * half, random_);
    Tensor cosine = random_tensor(DType::f32, half, random_);
    Tensor sine = random_tensor(DType::f32, half, random_);
    std::vector<double> wanted(2 * half);
    for (std::uint32_t i = 0; i < half; ++i) {
      wanted[i] = head.at(i) * cosine.at(i) - head.at(i + half) * sine.at(i);
      wanted[i + half] = head.at(i + half) * cosine.at(i) + head.at(i) * sine.at(i);
    }
    rows().rotate(head.data(), head.data(), reinterpret_cast<const float*>(cosine.data()),
                  reinterpret_cast<const float*>(sine.data()), half);
    EXPECT_LT(distance(head.values(), wanted), tolerance(dtype())) << half;
  }
}

TEST_P(RowKernelsTest, ConvertsThereAndBackExactly) {
  Tensor in = random_tensor(dtype(), 301, random_), out(dtype(), 301);
  std::vector<float> wide(301);
  rows().to_f32(in.data(), wide.data(), 301);
  for (std::size_t i = 0; i < 301; ++i) EXPECT_EQ(wide[i], static_cast<float>(in.at(i)));
  rows().from_f32(wide.data(), out.data(), 301);
  EXPECT_EQ(in.bytes, out.bytes);
}

INSTANTIATE_TEST_SUITE_P(EverySet, RowKernelsTest,
                         ::testing::Combine(::testing::ValuesIn(kIsas),
                                            ::testing::Values(DType::f32, DType::bf16)));

}  // namespace
}  // namespace kvroof
