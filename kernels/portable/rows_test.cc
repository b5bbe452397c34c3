// SPDX-License-Identifier: Apache-2.0
#include "kernels/portable/rows.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "kernels/portable/oracle.h"
#include "kernels/portable/quantise.h"

namespace kvroof {
namespace {

class RowsTest : public ::testing::Test {
 protected:
  // Row r of `count` rows holds r * 3 + 1 in each of its `kRow` bytes.
  static std::vector<std::byte> table(std::size_t count) {
    std::vector<std::byte> out(count * kRow);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<std::byte>(i / kRow * 3 + 1);
    return out;
  }
  static constexpr std::size_t kRow = 37;
  std::vector<std::byte> source_ = table(10);
  std::vector<std::int32_t> index_ = {9, 0, 4, 4};
};

TEST_F(RowsTest, GatherTakesTheNamedRows) {
  std::vector<std::byte> out(4 * kRow);
  ASSERT_TRUE(gather_rows({source_.data(), index_.data(), out.data(), 4, kRow, 10}).ok());
  for (std::size_t i = 0; i < out.size(); ++i) {
    EXPECT_EQ(out[i], static_cast<std::byte>(index_[i / kRow] * 3 + 1));
  }
}

TEST_F(RowsTest, ScatterUndoesGather) {
  index_ = {7, 2, 0, 5};
  std::vector<std::byte> out(8 * kRow, std::byte{0xEE});
  ASSERT_TRUE(scatter_rows({source_.data(), index_.data(), out.data(), 4, kRow, 8}).ok());
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(out[static_cast<std::size_t>(index_[i]) * kRow], source_[i * kRow]);
  }
  EXPECT_EQ(out[1 * kRow], std::byte{0xEE});
}

TEST_F(RowsTest, AnIndexOutsideFailsAndWritesNothing) {
  for (std::int32_t bad : {-1, 10, INT32_MAX, INT32_MIN}) {
    index_[3] = bad;
    std::vector<std::byte> out(10 * kRow, std::byte{0xEE});
    const std::vector<std::byte> before = out;
    EXPECT_EQ(gather_rows({source_.data(), index_.data(), out.data(), 4, kRow, 10}).code,
              Code::failed);
    EXPECT_EQ(scatter_rows({source_.data(), index_.data(), out.data(), 4, kRow, 10}).code,
              Code::failed);
    EXPECT_EQ(out, before);
  }
}

// Large enough for all cores, with vectors that end between two cores' parts.
TEST_F(RowsTest, NarrowRowsComeBackToWhereTheyWere) {
  const NarrowRow row{1000, 128, DType::bf16, DType::fp8};
  std::mt19937 random(3);
  oracle::Tensor cache = oracle::random_tensor(DType::bf16, 6 * row.values(), random);
  std::vector<std::byte> narrow(4 * row.narrow_bytes()), out(6 * row.wide_bytes());
  const std::vector<std::int32_t> index = {5, 0, 2, 2};
  ASSERT_TRUE(quantise_rows({cache.data(), index.data(), narrow.data(), 4, row, 6}).ok());
  ASSERT_TRUE(dequantise_rows({narrow.data(), index.data(), out.data(), 4, row, 6}).ok());
  const QuantiseKernels& kernels = quantise_kernels(row.wide, row.narrow);
  for (const std::size_t at : {0, 2, 5}) {
    for (std::size_t v = at * row.vectors; v < (at + 1) * row.vectors; ++v) {
      std::vector<std::byte> vector(256), wanted(256);
      std::memcpy(vector.data(), cache.data() + v * 256, 256);
      std::vector<std::uint8_t> bytes(128);
      const float scale = kernels.quantise(vector.data(), bytes.data(), 128);
      kernels.dequantise(bytes.data(), scale, wanted.data(), 128);
      ASSERT_EQ(std::memcmp(out.data() + v * 256, wanted.data(), 256), 0) << at << " " << v;
    }
  }
  EXPECT_EQ(out[1 * row.wide_bytes()], std::byte{0});
  EXPECT_EQ(out[5 * row.wide_bytes() - 1], std::byte{0});
}

TEST_F(RowsTest, ANarrowRowOutsideFailsAndWritesNothing) {
  const NarrowRow row{2, 4, DType::f32, DType::int8};
  std::vector<std::byte> wide(10 * row.wide_bytes()), narrow(4 * row.narrow_bytes(), std::byte{9});
  const auto wide_before = wide, narrow_before = narrow;
  for (std::int32_t bad : {-1, 10, INT32_MAX, INT32_MIN}) {
    index_[3] = bad;
    EXPECT_EQ(quantise_rows({wide.data(), index_.data(), narrow.data(), 4, row, 10}).code,
              Code::failed);
    EXPECT_EQ(dequantise_rows({narrow.data(), index_.data(), wide.data(), 4, row, 10}).code,
              Code::failed);
  }
  EXPECT_EQ(wide, wide_before);
  EXPECT_EQ(narrow, narrow_before);
}

}  // namespace
}  // namespace kvroof
