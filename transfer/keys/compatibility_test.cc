// SPDX-License-Identifier: Apache-2.0
#include "transfer/keys/compatibility.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <utility>

namespace kvroof {
namespace {

using Record = CompatibilityRecord;

Record base() {
  Record record;
  record.model = "llama";
  record.revision = "r1";
  record.rope_theta = 10000;
  record.rope_scaling = RopeScaling{};
  record.block_tokens = 16;
  record.chunk_tokens = 256;
  record.layers = 32;
  record.kv_heads = 2;
  record.head_dim = 128;
  return record;
}

// One change a field, and one a field of the nested scaling; encode() itself refuses to compile
// when a field is added, and the count below then asks for its line here.
const std::vector<std::pair<const char*, std::function<void(Record&)>>> kFlips = {
    {"format_version", [](Record& r) { r.format_version = 2; }},
    {"model", [](Record& r) { r.model = "qwen"; }},
    {"revision", [](Record& r) { r.revision = "r2"; }},
    {"adapter", [](Record& r) { r.adapter = "lora-a"; }},
    {"weights", [](Record& r) { r.weights = "awq-int4"; }},
    {"kv_dtype", [](Record& r) { r.kv_dtype = DType::fp8; }},
    {"kv_scales", [](Record& r) { r.kv_scales = "per-head"; }},
    {"layout", [](Record& r) { r.layout = Layout::layer_first; }},
    {"order", [](Record& r) { r.order = KvOrder::packed; }},
    {"block_tokens", [](Record& r) { r.block_tokens = 32; }},
    {"chunk_tokens", [](Record& r) { r.chunk_tokens = 512; }},
    {"layers", [](Record& r) { r.layers = 33; }},
    {"kv_heads", [](Record& r) { r.kv_heads = 4; }},
    {"head_dim", [](Record& r) { r.head_dim = 64; }},
    {"window", [](Record& r) { r.window = 4096; }},
    {"rope_theta", [](Record& r) { r.rope_theta = 500000; }},
    {"rope_scaling", [](Record& r) { r.rope_scaling.reset(); }},
    {"other_rope", [](Record& r) { r.other_rope = "yarn"; }},
    {"tensor_parallel_rank", [](Record& r) { r.tensor_parallel_rank = 1; }},
    {"tensor_parallel_size", [](Record& r) { r.tensor_parallel_size = 2; }},
    {"numerics", [](Record& r) { r.numerics = "batch-invariant"; }},
    {"tenant_salt", [](Record& r) { r.tenant_salt = "tenant"; }},
    {"scaling.factor", [](Record& r) { r.rope_scaling->factor = 8; }},
    {"scaling.low_freq_factor", [](Record& r) { r.rope_scaling->low_freq_factor = 2; }},
    {"scaling.high_freq_factor", [](Record& r) { r.rope_scaling->high_freq_factor = 2; }},
    {"scaling.original_max_position",
     [](Record& r) { r.rope_scaling->original_max_position = 4096; }},
};
constexpr std::size_t kFields = 22, kScalingFields = 4;

TEST(Compatibility, NoTwoRecordsThatDifferInAFieldShareADigest) {
  ASSERT_EQ(kFlips.size(), kFields + kScalingFields);
  std::map<Digest128, std::string> seen{{digest(base()), "base"}};
  for (const auto& [name, flip] : kFlips) {
    Record record = base();
    flip(record);
    const auto [at, fresh] = seen.emplace(digest(record), name);
    EXPECT_TRUE(fresh) << name << " has the digest of " << at->second;
  }
}

TEST(Compatibility, EqualRecordsShareADigest) { EXPECT_EQ(digest(base()), digest(base())); }

// Without lengths these pairs would run together into the same bytes.
TEST(Compatibility, TextCannotMoveFromFieldToField) {
  Record left = base(), right = base();
  left.model = "ab", left.revision = "c";
  right.model = "a", right.revision = "bc";
  EXPECT_NE(encode(left), encode(right));
  left = right = base();
  left.numerics = "x", right.tenant_salt = "x";
  EXPECT_NE(encode(left), encode(right));
}

TEST(Compatibility, AbsentScalingDiffersFromDefaultScaling) {
  Record absent = base(), standard = base();
  absent.rope_scaling.reset();
  standard.rope_scaling = RopeScaling{};
  EXPECT_NE(encode(absent), encode(standard));
}

TEST(Compatibility, ShapeAndLayoutFillTheirFields) {
  ModelShape shape;
  shape.name = "m";
  shape.source = "s";
  shape.layers = 3, shape.kv_heads = 2, shape.head_dim = 8;
  shape.rope_theta = 7;
  shape.other_rope = "yarn";
  shape.ranks = 2;
  shape.kinds.assign(3, {128, false});
  const KvLayout kv = make_kv_layout(shape, DType::f32, Layout::layer_first, 16, 10);
  const Record record = make_record(shape, kv, 4);
  EXPECT_EQ(record.model, "m");
  EXPECT_EQ(record.revision, "s");
  EXPECT_EQ(record.layout, Layout::layer_first);
  EXPECT_EQ(record.kv_dtype, DType::f32);
  EXPECT_EQ(record.chunk_tokens, 64u);
  EXPECT_EQ(record.layers, 3u);
  EXPECT_EQ(record.kv_heads, 2u);
  EXPECT_EQ(record.head_dim, 8u);
  EXPECT_EQ(record.rope_theta, 7);
  EXPECT_EQ(record.other_rope, "yarn");
  EXPECT_EQ(record.window, 128u);
  EXPECT_EQ(record.tensor_parallel_size, 2u);
}

}  // namespace
}  // namespace kvroof
