// SPDX-License-Identifier: Apache-2.0
#include "kernels/model/kv_pattern.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <tuple>

namespace kvroof {
namespace {

using Bytes = std::vector<std::byte>;

KvLayout layout_of(Layout layout, KvOrder order, DType dtype, std::uint32_t kv_heads) {
  KvLayout kv{layout, dtype, 3, kv_heads, 16, 5, 9};
  kv.order = order;
  return kv;
}

Bytes written(const KvLayout& kv, const PatternName& name) {
  Bytes copy(kv.block_bytes());
  EXPECT_TRUE(write_pattern(kv, name, copy).ok());
  return copy;
}

// Where vectors, and scales, begin in a copy of a block: arrays of one or two planes' vectors, each
// followed by its scales.
struct Starts {
  explicit Starts(const KvLayout& kv) {
    const std::size_t planes = kv.order == KvOrder::packed ? 2 : 1;
    const std::size_t count = planes * kv.kv_heads * kv.block_tokens;
    const std::size_t vector = kv.head_dim * bytes_of(kv.dtype);
    const std::size_t scale = is_quantised(kv.dtype) ? 4 : 0;
    for (std::size_t array = 0; array < kv.block_bytes(); array += count * (vector + scale)) {
      for (std::size_t i = 0; i < count; ++i) {
        vectors.push_back(array + i * vector);
        if (scale > 0) scales.push_back(array + count * vector + i * scale);
      }
    }
  }
  std::vector<std::size_t> vectors, scales;
};

class KvPatternTest
    : public testing::TestWithParam<std::tuple<Layout, KvOrder, DType, std::uint32_t>> {
 protected:
  const KvLayout kv_ = layout_of(std::get<0>(GetParam()), std::get<1>(GetParam()),
                                 std::get<2>(GetParam()), std::get<3>(GetParam()));
  const std::size_t vector_ = kv_.head_dim * bytes_of(kv_.dtype);
  const Starts starts_{kv_};

  // Exchanges every two of `starts`, of `bytes` each, in turn.
  void expect_each_exchange_is_noticed(const std::vector<std::size_t>& starts,
                                       std::size_t bytes) const {
    const Bytes copy = written(kv_, {7});
    for (const std::size_t a : starts) {
      for (const std::size_t b : starts) {
        if (a >= b) continue;
        Bytes exchanged = copy;
        std::swap_ranges(&exchanged[a], &exchanged[a] + bytes, &exchanged[b]);
        ASSERT_FALSE(check_pattern(kv_, {7}, exchanged).ok()) << a << " and " << b;
      }
    }
  }
};

TEST_P(KvPatternTest, IsItsOwnAndNoOthers) {
  const Bytes copy = written(kv_, {7});
  EXPECT_TRUE(check_pattern(kv_, {7}, copy).ok());
  EXPECT_FALSE(check_pattern(kv_, {8}, copy).ok());
  EXPECT_FALSE(check_pattern(kv_, {7, 1}, copy).ok());
  EXPECT_FALSE(check_pattern(kv_, {7}, Bytes(copy.size())).ok());
  EXPECT_FALSE(check_pattern(kv_, {0}, Bytes(copy.size())).ok());
}

// Any two vectors, wherever they lie.
TEST_P(KvPatternTest, EveryExchangeOfTwoVectorsIsNoticed) {
  expect_each_exchange_is_noticed(starts_.vectors, vector_);
}

TEST_P(KvPatternTest, EveryExchangeOfTwoScalesIsNoticed) {
  expect_each_exchange_is_noticed(starts_.scales, 4);
}

TEST_P(KvPatternTest, EveryByteCounts) {
  const Bytes copy = written(kv_, {7});
  for (std::size_t i = 0; i < copy.size(); ++i) {
    Bytes changed = copy;
    changed[i] ^= std::byte{1};
    ASSERT_FALSE(check_pattern(kv_, {7}, changed).ok()) << i;
  }
}

// So that pieces of vectors can't trade places either.
TEST_P(KvPatternTest, NoTwoWordsAreEqual) {
  const Bytes copy = written(kv_, {7});
  std::set<std::uint64_t> seen;
  for (const std::size_t start : starts_.vectors) {
    for (std::size_t at = start; at < start + vector_; at += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, &copy[at], 8);
      EXPECT_TRUE(seen.insert(word).second) << at;
    }
  }
}

TEST_P(KvPatternTest, VectorsOfAllBlocksSayWhatTheyAre) {
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, bool>> seen;
  for (const std::uint32_t block : {0u, 1u, 2u, (1u << 24) - 1}) {
    const Bytes copy = written(kv_, {block, 2});
    for (const std::size_t at : starts_.vectors) {
      const auto vector = read_pattern(std::span(copy).subspan(at, vector_));
      ASSERT_TRUE(vector) << at;
      EXPECT_EQ(vector->block, block);
      EXPECT_TRUE(vector->layer >= 2 && vector->layer < 2 + kv_.layers);
      EXPECT_LT(vector->head, kv_.kv_heads);
      EXPECT_LT(vector->token, kv_.block_tokens);
      seen.emplace(vector->block, vector->layer, vector->head, vector->token, vector->value);
    }
  }
  EXPECT_EQ(seen.size(), 4u * 2 * kv_.layers * kv_.kv_heads * kv_.block_tokens);
}

INSTANTIATE_TEST_SUITE_P(
    All, KvPatternTest,
    testing::Combine(testing::Values(Layout::block_first, Layout::layer_first),
                     testing::Values(KvOrder::nhd, KvOrder::hnd, KvOrder::packed),
                     testing::Values(DType::f32, DType::bf16, DType::fp8, DType::int8),
                     testing::Values(1u, 2u)));

// A copy under one layout must not pass under another whose blocks have the same size. At one KV
// head nhd and hnd are the same bytes.
TEST(KvPattern, OtherLayoutsOfTheSameSizeDiffer) {
  std::vector<KvLayout> all;
  for (const Layout layout : {Layout::block_first, Layout::layer_first})
    for (const KvOrder order : {KvOrder::nhd, KvOrder::hnd, KvOrder::packed})
      all.push_back(layout_of(layout, order, DType::bf16, 2));
  for (const KvLayout& from : all) {
    for (const KvLayout& to : all) {
      const Bytes copy = written(from, {1});
      ASSERT_EQ(copy.size(), to.block_bytes());
      // In a chunk the regions follow one another, so the order alone decides.
      EXPECT_EQ(check_pattern(to, {1}, copy).ok(), from.order == to.order)
          << name(from.order) << " as " << name(to.order);
    }
  }
}

// Vectors shorter than a name too, here of 4 bytes.
TEST(KvPattern, ShortVectorsDifferAsWell) {
  KvLayout kv{Layout::block_first, DType::fp8, 4, 2, 4, 16, 1};
  std::set<std::uint32_t> seen;
  for (std::uint32_t block = 0; block < 4; ++block) {
    const Bytes copy = written(kv, {block});
    for (const std::size_t at : Starts(kv).vectors) {
      std::uint32_t vector = 0;
      std::memcpy(&vector, &copy[at], 4);
      EXPECT_TRUE(seen.insert(vector).second) << block << ' ' << at;
    }
  }
}

TEST(KvPattern, ValuesAreFinite) {
  const Bytes wide = written(layout_of(Layout::block_first, KvOrder::nhd, DType::f32, 2), {3});
  for (std::size_t at = 0; at < wide.size(); at += 4) {
    float value = 0;
    std::memcpy(&value, &wide[at], 4);
    ASSERT_TRUE(std::isfinite(value));
  }
  const Bytes half = written(layout_of(Layout::block_first, KvOrder::nhd, DType::bf16, 2), {3});
  for (std::size_t at = 0; at < half.size(); at += 2) {
    ASSERT_NE((half[at + 1] & std::byte{0x7f}), std::byte{0x7f}) << "an exponent of ones";
  }
  const KvLayout narrow = layout_of(Layout::block_first, KvOrder::nhd, DType::fp8, 2);
  const Bytes eighth = written(narrow, {3});
  for (const std::byte value : eighth) ASSERT_NE((value & std::byte{0x7f}), std::byte{0x7f});
  for (const std::size_t at : Starts(narrow).scales) {
    float scale = 0;
    std::memcpy(&scale, &eighth[at], 4);
    ASSERT_TRUE(std::isfinite(scale));
  }
}

TEST(KvPattern, SaysWhatLiesWhere) {
  const KvLayout kv = layout_of(Layout::block_first, KvOrder::nhd, DType::bf16, 2);
  Bytes copy = written(kv, {7});
  const Bytes other = written(kv, {5});
  std::copy_n(other.begin() + 32, 32, copy.begin());  // its second vector: token 0, head 1
  EXPECT_EQ(check_pattern(kv, {7}, copy).text,
            "The place of K of token 0, head 0, layer 0, block 7 holds K of token 0, head 1, layer "
            "0, block 5.");
  std::fill_n(copy.begin(), 32, std::byte{0xff});
  EXPECT_EQ(check_pattern(kv, {7}, copy).text,
            "The place of K of token 0, head 0, layer 0, block 7 holds bytes of no vector.");
}

TEST(KvPattern, NamesTheScaleThatIsNotItsOwn) {
  const KvLayout kv = layout_of(Layout::block_first, KvOrder::hnd, DType::int8, 2);
  Bytes copy = written(kv, {7});
  copy[10 * 16 + 6 * 4] ^= std::byte{1};  // K of 2 heads of 5 tokens, then a scale each
  EXPECT_EQ(check_pattern(kv, {7}, copy).text,
            "The scale of K of token 1, head 1, layer 0, block 7 is not its own.");
}

TEST(KvPattern, RefusesWhatHasNoRoom) {
  KvLayout kv = layout_of(Layout::block_first, KvOrder::nhd, DType::bf16, 2);
  Bytes copy(kv.block_bytes());
  EXPECT_EQ(write_pattern(kv, {1u << 24}, copy).code, Code::invalid);
  EXPECT_EQ(write_pattern(kv, {0, 1022}, copy).code, Code::invalid);
  EXPECT_EQ(write_pattern(kv, {0}, std::span(copy).first(8)).code, Code::invalid);
  EXPECT_EQ(check_pattern(kv, {0}, std::span(copy).first(8)).code, Code::invalid);
}

}  // namespace
}  // namespace kvroof
