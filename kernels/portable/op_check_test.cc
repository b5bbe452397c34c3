// SPDX-License-Identifier: Apache-2.0
#include "kernels/portable/op_check.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace kvroof {
namespace {

class SizedBuffer final : public Buffer {
 public:
  explicit SizedBuffer(std::uint64_t bytes) { facts_.bytes = bytes; }
  const BufferFacts& facts() const noexcept override { return facts_; }
  std::span<std::byte> host() noexcept override { return {}; }

 private:
  BufferFacts facts_;
};

class OpCheckTest : public ::testing::Test {
 protected:
  Span span(std::uint64_t bytes) { return {&memory_, 0, bytes}; }
  PagedKv kv() {
    PagedKv out{};
    out.cache = span(4096), out.block_table = span(8);
    out.v_offset = 512, out.block_stride = 1024, out.token_stride = 64, out.head_stride = 32;
    out.block_tokens = 8, out.kv_heads = 2, out.head_dim = 8, out.dtype = DType::f32;
    return out;
  }
  Gemm gemm() {
    return {span(2 * 3 * 4), span(5 * 3 * 4), span(2 * 5 * 4), 2, 5, 3, DType::f32, DType::f32};
  }
  Attention attention() {
    return {span(16 * 128), span(16 * 128), 128, kv(), 16, 0, 4, 1, DType::f32};
  }
  RopeAppend rope() { return {span(4 * 8 * 8 * 4), span(16), kv(), 4, 12, 4, DType::f32}; }

  // Two heads of 4 + 4 and 4, latents of 8 + 4.
  MlaAttention latents() {
    PagedKv cache = kv();
    cache.kv_heads = 1, cache.head_dim = 12;
    return {span(2 * 16 * 4),
            span(2 * 12 * 4),
            span(16 * 8 * 4),
            span(2 * 8 * 4),
            cache,
            2,
            14,
            2,
            8,
            4,
            4,
            4,
            DType::f32};
  }

  SizedBuffer memory_{1 << 16};
};

TEST_F(OpCheckTest, ChecksumsNeedPartsThatDivideARow) {
  const Checksum good{span(64), span(8), span(2 * 4 * 8), 2, 64, 4};
  EXPECT_TRUE(check_op(good).ok());
  Checksum op = good;
  op.parts = 3;
  EXPECT_EQ(check_op(op).code, Code::invalid);
  op = good, op.out.offset = 4;
  EXPECT_EQ(check_op(op).code, Code::invalid);
  op = good, op.rows = 0xffffffffu, op.row_bytes = 1ull << 62, op.parts = 1;
  EXPECT_EQ(check_op(op).code, Code::invalid);
  // Without an index the source has a row for each.
  op = good, op.index = {};
  EXPECT_EQ(check_op(op).code, Code::invalid);
  op.source = span(128);
  EXPECT_TRUE(check_op(op).ok());
}

TEST_F(OpCheckTest, AcceptsWhatFitsExactly) {
  EXPECT_EQ(check_op(gemm()).text, "");
  EXPECT_EQ(check_op(attention()).text, "");
  EXPECT_EQ(check_op(rope()).text, "");
  EXPECT_EQ(check_op(Norm{{}, span(48), span(16), span(48), 3, 4, 1e-5f, DType::f32}).text, "");
  EXPECT_EQ(check_op(Activation{span(24), span(12), 1, 3, DType::f32}).text, "");
  EXPECT_EQ(check_op(Embedding{span(8), span(80), span(16), 2, 2, 10, DType::f32}).text, "");
  EXPECT_EQ(check_op(Gather{span(7), span(8), span(14), 2, 7}).text, "");
  EXPECT_EQ(check_op(Scatter{span(14), span(8), span(7), 2, 7}).text, "");
}

TEST_F(OpCheckTest, ASpanOneByteShortIsNamed) {
  const auto expect = [](const Op& op, const char* name) {
    const Status status = check_op(op);
    EXPECT_EQ(status.code, Code::invalid);
    EXPECT_NE(status.text.find(name), std::string::npos) << status.text;
  };
  Gemm g = gemm();
  g.b.bytes -= 1;
  expect(g, "gemm: b needs 60");
  Attention a = attention();
  a.kv.block_table.bytes -= 1;
  expect(a, "block_table");
  a = attention();
  a.q.bytes -= 1;
  expect(a, "q needs");
  RopeAppend r = rope();
  r.qkv.bytes -= 1;
  expect(r, "qkv");
  r = rope();
  r.kv.cache.bytes = 512 + 7 * 64 + 32 + 31;
  expect(r, "cache");
  expect(Norm{span(47), span(48), span(16), span(48), 3, 4, 1e-5f, DType::f32}, "x needs");
  expect(Embedding{span(8), span(79), span(16), 2, 2, 10, DType::f32}, "table");
}

// The cache of kv() in int8: a token is 16 bytes, a block 8 of them and then 16 scales.
TEST_F(OpCheckTest, ScalesOfAQuantisedCacheMustFitAndBeAligned) {
  Attention op = attention();
  op.kv.dtype = DType::int8;
  op.kv.token_stride = 16, op.kv.head_stride = 8, op.kv.v_offset = 128 + 64;
  op.kv.k_scale_offset = 128, op.kv.v_scale_offset = 2 * 128 + 64;
  op.kv.scale_token_stride = 8, op.kv.scale_head_stride = 4, op.kv.block_stride = 384;
  op.kv.cache.bytes = 384;
  EXPECT_EQ(check_op(op).text, "");
  const auto refused = [](const Attention& odd) { return check_op(odd).text; };
  Attention odd = op;
  odd.kv.cache.bytes -= 1;
  EXPECT_NE(refused(odd).find("cache needs 384"), std::string::npos) << refused(odd);
  for (const auto field :
       {&PagedKv::k_scale_offset, &PagedKv::v_scale_offset, &PagedKv::block_stride,
        &PagedKv::scale_token_stride, &PagedKv::scale_head_stride}) {
    odd = op;
    odd.kv.*field -= 2;
    EXPECT_NE(refused(odd).find("scales must lie"), std::string::npos) << refused(odd);
  }
  odd = op;
  odd.kv.cache = {&memory_, 2, 384};
  EXPECT_NE(refused(odd).find("multiple of 4"), std::string::npos) << refused(odd);
  odd.kv.dtype = DType::f32, odd.kv.cache.offset = 0;  // has no scales: theirs may be anything
  odd.kv.k_scale_offset = 1;
  EXPECT_EQ(check_op(odd).text, "");
}

TEST_F(OpCheckTest, SequencesTakeSpansOfTheirOwn) {
  SizedBuffer huge{1ull << 63};
  const auto expect_each_span_counts = [&huge](auto op, auto spans_of, const char* first) {
    EXPECT_EQ(check_op(op).text, "");
    op.sequences = 3;
    for (Span* span : spans_of(op)) span->bytes *= 3;
    EXPECT_EQ(check_op(op).text, "");
    for (std::size_t i = 0; i < spans_of(op).size(); ++i) {
      auto one_short = op;
      spans_of(one_short)[i]->bytes -= 1;
      EXPECT_EQ(check_op(one_short).code, Code::invalid) << "span " << i;
    }
    op.sequences = 0;
    EXPECT_EQ(check_op(op).code, Code::invalid);
    op.sequences = op.tokens = 1u << 31;  // their bytes are 0 modulo 2^64
    op.past = 0;
    op.kv.block_table = {&huge, 0, 1ull << 63};
    EXPECT_NE(check_op(op).text.find(std::string(first) + " needs"), std::string::npos)
        << check_op(op).text;
  };
  expect_each_span_counts(
      attention(),
      [](Attention& op) {
        return std::vector<Span*>{&op.q, &op.out, &op.kv.block_table};
      },
      "q");
  expect_each_span_counts(
      rope(),
      [](RopeAppend& op) {
        return std::vector<Span*>{&op.qkv, &op.kv.block_table};
      },
      "qkv");
  expect_each_span_counts(
      latents(),
      [](MlaAttention& op) {
        return std::vector<Span*>{&op.q, &op.latents, &op.out, &op.kv.block_table};
      },
      "q");
}

TEST_F(OpCheckTest, ShapesThatMakeNoSenseAreRefused) {
  Gemm g = gemm();
  g.k = 0;
  EXPECT_EQ(check_op(g).code, Code::invalid);
  Attention a = attention();
  a.heads = 3;
  EXPECT_EQ(check_op(a).code, Code::invalid);
  a = attention();
  a.kv.kv_heads = 0;
  EXPECT_EQ(check_op(a).code, Code::invalid);
  a = attention();
  a.kv.token_stride = 63;
  EXPECT_EQ(check_op(a).code, Code::invalid);
  a = attention();
  a.scale = 0;
  EXPECT_EQ(check_op(a).code, Code::invalid);
  a.scale = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(check_op(a).code, Code::invalid);
  RopeAppend r = rope();
  r.kv.head_dim = 7;
  EXPECT_EQ(check_op(r).code, Code::invalid);
  EXPECT_EQ(check_op(Gemm{}).code, Code::invalid);
}

TEST_F(OpCheckTest, NarrowRowsHaveAWidthOfFoursAndKnownTypes) {
  const Quantise good{
      span(2 * 3 * 8), span(8), span(2 * 3 * (8 + 4)), 2, {3, 8, DType::bf16, DType::int8}};
  EXPECT_EQ(check_op(good).text, "");
  EXPECT_EQ(check_op(Dequantise{good.out, good.index, good.source, 2, good.row}).text, "");
  const auto refused = [&](auto change, const char* word) {
    Quantise op = good;
    change(op.row);
    for (const Op& each : {Op(op), Op(Dequantise{op.out, op.index, op.source, 2, op.row})}) {
      EXPECT_EQ(check_op(each).code, Code::invalid);
      EXPECT_NE(check_op(each).text.find(word), std::string::npos) << check_op(each).text;
    }
  };
  refused([](NarrowRow& row) { row.vectors = 0; }, "at least one");
  refused([](NarrowRow& row) { row.width = 6; }, "multiple of four");
  refused([](NarrowRow& row) { row.wide = DType::fp8; }, "not in fp8");
  refused([](NarrowRow& row) { row.narrow = DType::bf16; }, "not in bf16");
  refused([](NarrowRow& row) { row.vectors = row.width = UINT32_MAX - 3; }, "needs");
}

TEST_F(OpCheckTest, ShapesWhoseBytesExceed64BitsDoNotWrapRound) {
  Gemm g = gemm();
  g.m = g.n = g.k = UINT32_MAX;
  EXPECT_EQ(check_op(g).code, Code::invalid);
  Gather gather{span(8), span(8), span(8), 2, UINT64_MAX / 2 + 1};
  EXPECT_EQ(check_op(gather).code, Code::invalid);
}

TEST_F(OpCheckTest, MissingBuffersBadOffsetsAndMisalignmentAreRefused) {
  Gemm g = gemm();
  g.c.buffer = nullptr;
  EXPECT_EQ(check_op(g).code, Code::invalid);
  g = gemm();
  g.a.offset = 2;
  EXPECT_EQ(check_op(g).code, Code::invalid);
  g = gemm();
  g.a.offset = UINT64_MAX - 3;
  EXPECT_EQ(check_op(g).code, Code::invalid);
}

}  // namespace
}  // namespace kvroof
