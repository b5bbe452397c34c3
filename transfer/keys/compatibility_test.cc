// SPDX-License-Identifier: Apache-2.0
#include "transfer/keys/compatibility.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "transfer/keys/record_flips.h"

namespace kvroof {
namespace {

using Record = CompatibilityRecord;
using Fields = std::vector<std::vector<std::byte>>;

Record base() {
  Record record;
  record.shape.name = "llama";
  record.shape.layers = 4;
  record.shape.rope_scaling = RopeScaling{};
  record.shape.experts = Experts{};
  record.shape.latent = LatentAttention{};
  record.revision = "r1";
  record.kv = {Layout::block_first, DType::bf16, 4, 2, 128, 16, 100};
  record.layers = {0, 1, 2, 3};
  return record;
}

// The encoding taken apart again by what its comment says: lengths and bytes.
Fields fields(const Record& record) {
  const std::vector<std::byte> bytes = encode(record);
  Fields out;
  for (std::size_t at = 0; at < bytes.size();) {
    std::uint64_t length = 0;
    std::memcpy(&length, &bytes[at], sizeof length);
    at += sizeof length;
    const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(at);
    out.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(length));
    at += length;
  }
  return out;
}

// encode() compiles only with every member; so this fails where one has no flip, or where a flip or
// the encoding names another member than its place says.
TEST(Compatibility, EachFlipChangesItsFieldAlone) {
  const Fields before = fields(base());
  const auto flips = record_flips();
  ASSERT_EQ(flips.size(), before.size());
  for (std::size_t i = 0; i < flips.size(); ++i) {
    Record record = base();
    flips[i].apply(record);
    const Fields after = fields(record);
    ASSERT_EQ(after.size(), before.size()) << flips[i].field;
    for (std::size_t j = 0; j < before.size(); ++j) {
      EXPECT_EQ(after[j] == before[j], j != i) << flips[i].field << " and field " << j;
    }
  }
}

TEST(Compatibility, NoTwoRecordsThatDifferInAFieldShareADigest) {
  for (const KeyHash& hash : {KeyHash(), KeyHash(HashSecret{})}) {
    for (const Record& start : {base(), Record{}}) {
      std::map<Digest128, std::string_view> seen{{digest(start, hash), "none"}};
      for (const RecordFlip& flip : record_flips()) {
        Record record = start;
        flip.apply(record);
        const auto [at, fresh] = seen.emplace(digest(record, hash), flip.field);
        EXPECT_TRUE(fresh) << flip.field << " has the digest of " << at->second;
      }
    }
  }
}

TEST(Compatibility, EqualRecordsShareADigest) { EXPECT_EQ(digest(base()), digest(base())); }

TEST(Compatibility, AnotherSecretGivesAnotherDigest) {
  EXPECT_NE(digest(base(), KeyHash(random_secret())), digest(base(), KeyHash(random_secret())));
}

TEST(Compatibility, CachesOfAnySizeExchangeChunks) {
  Record larger = base();
  larger.kv.blocks *= 2;
  EXPECT_EQ(digest(larger), digest(base()));
}

// Without lengths these pairs would run together into the same bytes.
TEST(Compatibility, TextCannotMoveFromFieldToField) {
  Record left = base(), right = base();
  left.revision = "ab", left.weights = "c";
  right.revision = "a", right.weights = "bc";
  EXPECT_NE(encode(left), encode(right));
  left = right = base();
  left.adapter = "x", right.tenant_salt = "x";
  EXPECT_NE(encode(left), encode(right));
}

TEST(Compatibility, AbsentScalingDiffersFromDefaultScaling) {
  Record absent = base(), standard = base();
  absent.shape.rope_scaling.reset();
  standard.shape.rope_scaling = RopeScaling{};
  EXPECT_NE(encode(absent), encode(standard));
}

// Each pair of layouts has blocks of one size: only the record tells their chunks apart.
TEST(Compatibility, EqualSizesDoNotMatter) {
  std::map<Digest128, std::string> seen;
  for (const Layout layout : {Layout::block_first, Layout::layer_first}) {
    for (const KvOrder order : {KvOrder::nhd, KvOrder::hnd, KvOrder::packed}) {
      for (const DType dtype : {DType::fp8, DType::int8}) {
        Record record = base();
        record.kv.layout = layout, record.kv.order = order, record.kv.dtype = dtype;
        ASSERT_EQ(record.kv.kv_heads, 2u);
        const auto label = std::string(name(layout)) + std::string(name(order));
        EXPECT_TRUE(seen.emplace(digest(record), label).second) << label;
      }
    }
  }
}

TEST(Compatibility, ShapeAndLayoutFillTheirFields) {
  ModelShape shape;
  shape.name = "m";
  shape.layers = 3, shape.kv_heads = 2, shape.head_dim = 8;
  shape.ranks = 2;
  shape.kinds = {{128, false}, {0, false}, {128, false}};
  const auto groups = kv_groups(shape);
  const KvLayout kv = make_kv_layout(shape, groups[1], DType::fp8, Layout::layer_first, 16, 10);
  const Record record = make_record(shape, {kv}, 4);
  EXPECT_EQ(record.shape.name, "m");
  EXPECT_EQ(record.shape.ranks, 2u);
  EXPECT_EQ(record.kv.layout, Layout::layer_first);
  EXPECT_EQ(record.kv.window, 128u);
  EXPECT_EQ(record.layers, (std::vector<std::uint32_t>{0, 2}));
  EXPECT_EQ(record.blocks_per_chunk, 4u);
  EXPECT_EQ(record.stored_dtype, DType::fp8);
  EXPECT_NE(record.kv_scales, "");
  EXPECT_EQ(record.stored_scales, record.kv_scales);
  const KvLayout wide = make_kv_layout(shape, groups[1], DType::bf16, Layout::layer_first, 16, 10);
  const Record plain = make_record(shape, {wide}, 4);
  EXPECT_EQ(plain.stored_dtype, DType::bf16);
  EXPECT_EQ(plain.kv_scales + plain.stored_scales, "");
  const Record narrowed = make_record(shape, {wide, DType::fp8}, 4);
  EXPECT_EQ(narrowed.stored_dtype, DType::fp8);
  EXPECT_EQ(narrowed.kv_scales, "");
  EXPECT_NE(narrowed.stored_scales, record.stored_scales) << "they lie elsewhere";
}

}  // namespace
}  // namespace kvroof
