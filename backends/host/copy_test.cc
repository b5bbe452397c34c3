// SPDX-License-Identifier: Apache-2.0
#include "backends/host/copy.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "backends/host/copy_crew.h"

namespace kvroof::host {
namespace {

std::vector<std::byte> noise(std::size_t bytes, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::byte> out(bytes);
  for (std::byte& b : out) b = static_cast<std::byte>(random());
  return out;
}

TEST(StreamCopy, CopiesExactlyTheBytesAtEveryAlignmentAndLength) {
  const auto source = noise(9000, 1);
  for (std::size_t bytes : {0, 1, 63, 64, 2047, 2048, 2049, 4096, 8191}) {
    for (std::size_t shift : {0, 1, 31, 63}) {
      std::vector<std::byte> target(9000, std::byte{0xEE});
      stream_copy(target.data() + shift, source.data() + (shift * 7) % 64, bytes);
      EXPECT_EQ(std::memcmp(target.data() + shift, source.data() + (shift * 7) % 64, bytes), 0);
      for (std::size_t i = 0; i < shift; ++i) ASSERT_EQ(target[i], std::byte{0xEE});
      for (std::size_t i = shift + bytes; i < target.size(); ++i) {
        ASSERT_EQ(target[i], std::byte{0xEE}) << bytes << " at " << shift;
      }
    }
  }
}

TEST(CopyCrew, EveryPieceHasLandedOnReturnWhateverTheCrew) {
  for (unsigned workers : {1u, 2u, 5u}) {
    CopyCrew crew(workers);
    for (unsigned round = 0; round < 20; ++round) {
      const std::vector<std::size_t> sizes{1, 300'000, 64, 0, 1'048'577, 4096};
      std::vector<std::vector<std::byte>> sources, targets;
      std::vector<Piece> pieces;
      for (std::size_t bytes : sizes) {
        sources.push_back(noise(bytes, round));
        targets.emplace_back(bytes);
      }
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        pieces.push_back({targets[i].data(), sources[i].data(), sizes[i]});
      }
      crew.copy(pieces);
      EXPECT_EQ(targets, sources);
    }
    crew.copy({});
  }
}

TEST(CopyCrew, SumsEveryPartWhateverTheCrew) {
  for (unsigned workers : {1u, 3u}) {
    CopyCrew crew(workers);
    for (const std::size_t part : {100, 16384, 400'000}) {
      const auto source = noise(9 * part, workers);
      std::vector<std::byte> target(source.size());
      std::vector<std::uint64_t> sums(10, 5), expected;
      const std::vector<Piece> pieces{
          {target.data(), source.data(), 8 * part, sums.data(), part},
          {target.data() + 8 * part, source.data() + 8 * part, part, sums.data() + 8, part}};
      for (std::size_t i = 0; i < 9; ++i) {
        expected.push_back(checksum(source.data() + i * part, part));
      }
      expected.push_back(5);
      crew.copy(pieces);
      EXPECT_EQ(target, source);
      EXPECT_EQ(sums, expected);
    }
  }
}

}  // namespace
}  // namespace kvroof::host
