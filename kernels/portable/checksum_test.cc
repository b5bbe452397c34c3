// SPDX-License-Identifier: Apache-2.0
#include "kernels/portable/checksum.h"

#include <gtest/gtest.h>
#include <xxhash.h>

#include <vector>

#include "kernels/portable/isa.h"
#include "kernels/portable/rows.h"

namespace kvroof {

namespace baseline {
std::uint64_t checksum(const std::byte* bytes, std::uint64_t count);
}
namespace avx2 {
std::uint64_t checksum(const std::byte* bytes, std::uint64_t count);
}
namespace avx512 {
std::uint64_t checksum(const std::byte* bytes, std::uint64_t count);
}

namespace {

std::vector<std::byte> noise(std::size_t count) {
  std::vector<std::byte> bytes(count);
  std::uint32_t state = 1;
  for (std::byte& byte : bytes) byte = static_cast<std::byte>((state = state * 1664525 + 7) >> 24);
  return bytes;
}

// xxHash's own library, at every branch of its lengths.
TEST(Checksum, IsXxh3OnEveryInstructionSet) {
  const auto bytes = noise(20000);
  for (const std::uint64_t count :
       {0, 1, 3, 4, 8, 9, 16, 17, 128, 129, 240, 241, 1024, 1025, 4096, 16384, 19999}) {
    const std::uint64_t expected = XXH3_64bits(bytes.data() + 1, count);
    EXPECT_EQ(checksum(bytes.data() + 1, count), expected) << count;
    EXPECT_EQ(baseline::checksum(bytes.data() + 1, count), expected) << count;
    if (runs_here(Isa::avx2)) {
      EXPECT_EQ(avx2::checksum(bytes.data() + 1, count), expected) << count;
    }
    if (runs_here(Isa::avx512)) {
      EXPECT_EQ(avx512::checksum(bytes.data() + 1, count), expected) << count;
    }
  }
}

// Small enough for one core, and large enough for all.
TEST(ChecksumRows, GivesEachPartOfTheRowsThatTheIndexNames) {
  constexpr std::uint32_t kParts = 3;
  for (const std::uint64_t part : {40, 50'000}) {
    const std::uint64_t row = kParts * part;
    const auto source = noise(5 * row);
    const std::vector<std::int32_t> index{4, 0, 4, 2};
    std::vector<std::uint64_t> sums(index.size() * kParts, 1), expected;
    for (const std::int32_t named : index) {
      for (std::uint32_t i = 0; i < kParts; ++i) {
        expected.push_back(XXH3_64bits(source.data() + named * row + i * part, part));
      }
    }
    ASSERT_TRUE(checksum_rows({source.data(), index.data(), sums.data(), 4, row, kParts, 5}).ok());
    EXPECT_EQ(sums, expected);
  }
}

TEST(ChecksumRows, TakesRowsInOrderWithoutAnIndex) {
  const auto source = noise(300);
  std::vector<std::uint64_t> sums(3);
  ASSERT_TRUE(checksum_rows({source.data(), nullptr, sums.data(), 3, 100, 1, 3}).ok());
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(sums[i], XXH3_64bits(source.data() + i * 100, 100));
  }
}

TEST(ChecksumRows, WritesNothingForAnIndexOutside) {
  const auto source = noise(300);
  for (const std::int32_t bad : {3, -1}) {
    const std::vector<std::int32_t> index{0, bad};
    std::vector<std::uint64_t> sums{7, 7};
    const Status status = checksum_rows({source.data(), index.data(), sums.data(), 2, 100, 1, 3});
    EXPECT_EQ(status.code, Code::failed);
    EXPECT_EQ(sums, (std::vector<std::uint64_t>{7, 7}));
  }
}

}  // namespace
}  // namespace kvroof
