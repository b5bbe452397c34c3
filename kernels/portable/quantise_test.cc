// SPDX-License-Identifier: Apache-2.0
#include "kernels/portable/quantise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "kernels/portable/oracle.h"

namespace kvroof {
namespace {

using oracle::Tensor;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// By the format's definition: 1 sign, 4 exponent bits with bias 7, 3 of mantissa; no infinity.
double number_of_fp8(int byte) {
  const int exponent = byte >> 3 & 0xf, mantissa = byte & 7;
  if ((byte & 0x7f) == 0x7f) return NAN;
  const double size =
      exponent == 0 ? std::ldexp(mantissa, -9) : std::ldexp(8 + mantissa, exponent - 10);
  return (byte & 0x80) != 0 ? -size : size;
}

const std::vector<double>& finite_numbers() {
  static const std::vector<double> kNumbers = [] {
    std::vector<double> numbers;
    for (int byte = 0; byte < 0x7f; ++byte) numbers.push_back(number_of_fp8(byte));
    return numbers;
  }();
  return kNumbers;
}

// The byte whose number is nearest, of two the even one.
int nearest_fp8(double value) {
  const std::vector<double>& numbers = finite_numbers();
  const double size = std::abs(value);
  const auto above = std::upper_bound(numbers.begin(), numbers.end(), size);
  int best = static_cast<int>(above - numbers.begin()) - 1;
  if (above != numbers.end()) {
    const double down = size - numbers[best], up = *above - size;
    if (up < down || (up == down && best % 2 != 0)) ++best;
  }
  return best | (std::signbit(value) ? 0x80 : 0);
}

TEST(Fp8, EveryByteDecodesToItsNumberAndBack) {
  for (int byte = 0; byte < 256; ++byte) {
    const float got = decode_fp8(static_cast<std::uint8_t>(byte));
    if ((byte & 0x7f) == 0x7f) {
      EXPECT_TRUE(std::isnan(got)) << byte;
      continue;
    }
    EXPECT_EQ(got, number_of_fp8(byte)) << byte;
    EXPECT_EQ(std::signbit(got), byte >= 0x80) << byte;
    EXPECT_EQ(encode_fp8(got), byte);
  }
}

TEST(Fp8, EncodesAStridedSweepOfAllFloatsToTheNearest) {
  for (std::uint64_t bits = 0; bits < 0x7f800000u; bits += 5003) {
    const auto value = __builtin_bit_cast(float, static_cast<std::uint32_t>(bits));
    ASSERT_EQ(encode_fp8(value), nearest_fp8(value)) << value;
    ASSERT_EQ(encode_fp8(-value), nearest_fp8(-value)) << value;
  }
}

// Halfway between two neighbours, and one float to either side.
TEST(Fp8, TiesGoToEven) {
  for (int byte = 0; byte < 0x7e; ++byte) {
    const auto tie = static_cast<float>((number_of_fp8(byte) + number_of_fp8(byte + 1)) / 2);
    EXPECT_EQ(encode_fp8(tie), byte + byte % 2) << tie;
    EXPECT_EQ(encode_fp8(std::nextafter(tie, 0.0f)), byte) << tie;
    EXPECT_EQ(encode_fp8(std::nextafter(tie, kInfinity)), byte + 1) << tie;
  }
}

TEST(Fp8, SaturatesAndKeepsNans) {
  for (float large : {448.0f, 464.0f, 465.0f, 1e30f, kInfinity}) {
    EXPECT_EQ(encode_fp8(large), 0x7e) << large;
    EXPECT_EQ(encode_fp8(-large), 0xfe) << large;
  }
  EXPECT_TRUE(std::isnan(decode_fp8(encode_fp8(NAN))));
}

TEST(Int8, RoundsToEvenSaturatesAndHasNoMinus128) {
  const auto through = [](float value) { return decode_int8(encode_int8(value)); };
  for (int i = -127; i <= 127; ++i) EXPECT_EQ(through(static_cast<float>(i)), i);
  EXPECT_EQ(through(0.5f), 0);
  EXPECT_EQ(through(1.5f), 2);
  EXPECT_EQ(through(-2.5f), -2);
  EXPECT_EQ(through(std::nextafter(0.5f, 1.0f)), 1);
  for (float large : {127.4f, 128.0f, 1e30f, kInfinity}) {
    EXPECT_EQ(through(large), 127) << large;
    EXPECT_EQ(through(-large), -127) << large;
  }
  EXPECT_EQ(through(NAN), 0);
}

TEST(Quantise, AScaleOfATinyRowHasAReciprocal) {
  for (DType to : {DType::fp8, DType::int8}) {
    EXPECT_EQ(scale_of(to, 0), kLeastScale);
    EXPECT_EQ(scale_of(to, 0x1p-126f), kLeastScale);
    EXPECT_TRUE(std::isfinite(1 / scale_of(to, 0x1p-120f)));
  }
  EXPECT_EQ(scale_of(DType::fp8, 896), 2);
  EXPECT_EQ(scale_of(DType::int8, 254), 2);
}

class QuantiseTest : public ::testing::TestWithParam<std::tuple<Isa, DType, DType>> {
 protected:
  void SetUp() override {
    if (!runs_here(isa())) GTEST_SKIP() << "this CPU lacks " << name(isa());
  }
  Isa isa() const { return std::get<0>(GetParam()); }
  DType wide() const { return std::get<1>(GetParam()); }
  DType narrow() const { return std::get<2>(GetParam()); }
  const QuantiseKernels& kernels() const { return quantise_kernels(wide(), narrow(), isa()); }

  std::uint8_t encode(float value) const {
    return narrow() == DType::fp8 ? encode_fp8(value) : encode_int8(value);
  }
  float decode(std::uint8_t byte) const {
    return narrow() == DType::fp8 ? decode_fp8(byte) : decode_int8(byte);
  }
  // Of many sizes, with the largest first or last.
  Tensor row(std::uint32_t count) {
    Tensor out = oracle::random_tensor(wide(), count, random_);
    for (std::uint32_t i = 0; i < count; ++i) out.set(i, out.at(i) * std::exp2(-double(i % 17)));
    out.set(random_() % 2 == 0 ? 0 : count - 1, -3.25);
    return out;
  }

  std::mt19937 random_{11};
};

TEST_P(QuantiseTest, GivesTheBytesAndTheScaleOfTheSpecification) {
  for (std::uint32_t count : {1u, 7u, 64u, 128u, 1003u}) {
    Tensor in = row(count);
    std::vector<std::uint8_t> bytes(count);
    const float scale = kernels().quantise(in.data(), bytes.data(), count);
    EXPECT_EQ(scale, scale_of(narrow(), 3.25f));
    const float factor = 1 / scale;
    for (std::uint32_t i = 0; i < count; ++i) {
      ASSERT_EQ(bytes[i], encode(static_cast<float>(in.at(i)) * factor)) << i;
    }
  }
}

TEST_P(QuantiseTest, ComesBackWithinTheBound) {
  for (std::uint32_t count : {1u, 7u, 64u, 1003u}) {
    for (double size : {1.0, 1e-30, 1e20}) {
      Tensor in = row(count), out(wide(), count);
      for (std::uint32_t i = 0; i < count; ++i) in.set(i, in.at(i) * size);
      std::vector<std::uint8_t> bytes(count);
      const float scale = kernels().quantise(in.data(), bytes.data(), count);
      kernels().dequantise(bytes.data(), scale, out.data(), count);
      for (std::uint32_t i = 0; i < count; ++i) {
        ASSERT_LE(std::abs(out.at(i) - in.at(i)), quantise_error_bound(narrow(), scale, in.at(i)))
            << in.at(i);
      }
    }
  }
}

TEST_P(QuantiseTest, EveryByteComesBackTimesTheScale) {
  Tensor out(wide(), 256), wanted(wide(), 256);
  std::vector<std::uint8_t> bytes(256);
  for (int i = 0; i < 256; ++i) bytes[i] = static_cast<std::uint8_t>(i);
  kernels().dequantise(bytes.data(), 0.75f, out.data(), 256);
  for (int i = 0; i < 256; ++i) {
    wanted.set(i, decode(bytes[i]) * 0.75f);
    if (std::isnan(wanted.at(i))) {
      EXPECT_TRUE(std::isnan(out.at(i))) << i;
    } else {
      EXPECT_EQ(out.at(i), wanted.at(i)) << i;
    }
  }
}

TEST_P(QuantiseTest, WhatIsNotFiniteLeavesTheScaleAlone) {
  Tensor in = row(9), out(wide(), 9);
  in.set(4, INFINITY), in.set(5, NAN), in.set(8, -3.25);
  std::vector<std::uint8_t> bytes(9);
  const float scale = kernels().quantise(in.data(), bytes.data(), 9);
  EXPECT_EQ(scale, scale_of(narrow(), 3.25f));
  kernels().dequantise(bytes.data(), scale, out.data(), 9);
  EXPECT_NEAR(out.at(4), 3.25, 0.02);
  EXPECT_EQ(std::isnan(out.at(5)), narrow() == DType::fp8);
}

TEST_P(QuantiseTest, ZerosComeBackAsZeros) {
  Tensor in(wide(), 33), out = row(33);
  std::vector<std::uint8_t> bytes(33);
  const float scale = kernels().quantise(in.data(), bytes.data(), 33);
  kernels().dequantise(bytes.data(), scale, out.data(), 33);
  EXPECT_EQ(out.values(), std::vector<double>(33, 0.0));
}

INSTANTIATE_TEST_SUITE_P(EverySet, QuantiseTest,
                         ::testing::Combine(::testing::ValuesIn(kIsas),
                                            ::testing::Values(DType::f32, DType::bf16),
                                            ::testing::Values(DType::fp8, DType::int8)));

}  // namespace
}  // namespace kvroof
