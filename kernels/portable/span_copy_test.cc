// SPDX-License-Identifier: Apache-2.0
#include "kernels/portable/span_copy.h"

#include <gtest/gtest.h>

#include <vector>

namespace kvroof {
namespace {

std::vector<std::byte> numbered(std::uint64_t bytes) {
  std::vector<std::byte> out(bytes);
  for (std::uint64_t i = 0; i < bytes; ++i) out[i] = static_cast<std::byte>(i * 7 + (i >> 8) + 1);
  return out;
}

// Lengths around and far above what one core takes, none a multiple of anything, in reverse order.
TEST(SpanCopy, EveryByteArrivesAndNothingBesideIt) {
  for (const std::uint64_t scale : {std::uint64_t{1}, std::uint64_t{40}}) {
    const std::vector<std::uint64_t> lengths = {70001 * scale, 1, 0, 4097, 90003 * scale};
    const std::vector<std::byte> source = numbered(160001 * scale + 5000);
    std::vector<std::byte> out(source.size() + 5 * 16, std::byte{0xee});
    std::vector<std::byte> expected = out;
    std::vector<SpanCopy> spans;
    std::uint64_t from = 0, to = out.size();
    for (const std::uint64_t length : lengths) {
      to -= length + 16;
      spans.push_back({out.data() + to, source.data() + from, length});
      for (std::uint64_t i = 0; i < length; ++i) expected[to + i] = source[from + i];
      from += length;
    }
    copy_spans(spans);
    EXPECT_EQ(out, expected) << scale;
  }
}

// The same lengths in parts, some longer than what one core takes at once.
TEST(SpanCopy, SumsEachPartOfWhatItCopiesAndNoOther) {
  for (const std::uint64_t part : {1u, 96u, 4096u, 300'000u}) {
    const std::vector<std::uint64_t> parts = {7, 1, 20};
    const std::vector<std::byte> source = numbered(28 * part);
    std::vector<std::byte> out(source.size());
    std::vector<std::uint64_t> sums(29, 5), expected;
    std::vector<SpanCopy> spans;
    std::uint64_t done = 0;
    for (const std::uint64_t count : parts) {
      spans.push_back({out.data() + done * part, source.data() + done * part, count * part,
                       sums.data() + done, part});
      done += count;
    }
    for (std::uint64_t i = 0; i < done; ++i) {
      expected.push_back(checksum(source.data() + i * part, part));
    }
    expected.push_back(5);
    copy_spans(spans);
    EXPECT_EQ(out, source) << part;
    EXPECT_EQ(sums, expected) << part;
  }
}

}  // namespace
}  // namespace kvroof
