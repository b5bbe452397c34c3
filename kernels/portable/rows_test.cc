// SPDX-License-Identifier: Apache-2.0
#include "kernels/portable/rows.h"

#include <gtest/gtest.h>

#include <vector>

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

}  // namespace
}  // namespace kvroof
