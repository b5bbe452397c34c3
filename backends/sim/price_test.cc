// SPDX-License-Identifier: Apache-2.0
// Prices against sums done by hand, on the made-up device: 1000 GB/s, 100 TFLOP/s.
#include "backends/sim/price.h"

#include <nlohmann/json.hpp>

#include "backends/sim/sim_fixture.h"

namespace kvroof::sim {
namespace {

class SimPrice : public SimFixture {
 protected:
  static Profile profile(const std::string& text = test_profile()) {
    return std::move(*parse_profile(text));
  }
  static double seconds(const Profile& profile, const Op& op) {
    return Pricer(profile).price(op)->seconds;
  }

  std::unique_ptr<Buffer> onto_ = buffer(MemoryKind::device, 100'000'000, false);
  std::unique_ptr<Buffer> host_ = buffer(MemoryKind::pinned, 100'000'000, false);
  std::unique_ptr<Buffer> pageable_ = buffer(MemoryKind::pageable, 100'000'000, false);
};

Gemm gemm(std::uint32_t m, std::uint32_t n, std::uint32_t k) {
  Gemm op{};
  op.m = m;
  op.n = n;
  op.k = k;
  op.dtype = op.out_dtype = DType::bf16;
  return op;
}

// Eight heads of 64 over two of K and V, without a past.
Attention attention(std::uint32_t tokens) {
  Attention op{};
  op.tokens = tokens;
  op.heads = 8;
  op.kv.kv_heads = 2;
  op.kv.head_dim = 64;
  op.dtype = op.kv.dtype = DType::bf16;
  return op;
}

TEST_F(SimPrice, AGemmTakesItsFlopsOrItsWeights) {
  const Profile p = profile();
  EXPECT_DOUBLE_EQ(seconds(p, gemm(1000, 1000, 1000)), 2e9 / 100e12);
  EXPECT_DOUBLE_EQ(seconds(p, gemm(1, 1000, 1000)), 2e6 / 1e12);
}

TEST_F(SimPrice, NoKernelIsShorterThanALaunch) {
  nlohmann::json json = nlohmann::json::parse(test_profile());
  for (const char* key : {"low", "value", "high"}) json["launch_floor"][key] = 5e-6;
  EXPECT_EQ(seconds(profile(json.dump()), gemm(1, 8, 8)), 5e-6);
}

// A table of one shape, 1000 x 1000: 1 ms at m = 100, 4 ms at m = 400.
TEST_F(SimPrice, AGemmTableIsInterpolatedAndScaled) {
  nlohmann::json json = nlohmann::json::parse(test_profile());
  nlohmann::json latency = json["copy"]["dma"]["in"];
  latency["unit"] = "s";
  latency["points"] = {{100, 1e-3}, {400, 4e-3}};
  json["compute"]["bf16"]["gemm"] = {
      {"shapes", {{{"n", 1000}, {"k", 1000}, {"latency", latency}}}}};
  const Profile p = profile(json.dump());
  EXPECT_NEAR(seconds(p, gemm(200, 1000, 1000)), 2e-3, 1e-12);
  EXPECT_NEAR(seconds(p, gemm(800, 1000, 1000)), 8e-3, 1e-12);
  EXPECT_NEAR(seconds(p, gemm(50, 1000, 1000)), 1e-3, 1e-12);
  EXPECT_NEAR(seconds(p, gemm(100, 3000, 500)), 1.5e-3, 1e-12);
}

TEST_F(SimPrice, AttentionTakesItsFlopsOrItsKv) {
  const Profile p = profile();
  Attention op = attention(100);
  EXPECT_DOUBLE_EQ(seconds(p, op), 4.0 * 8 * 64 * 5050 / 100e12);
  op.tokens = 1;
  op.past = 99'999;  // K and V of 100,000 tokens, two heads of 64, two bytes each
  EXPECT_DOUBLE_EQ(seconds(p, op), 2.0 * 100'000 * 2 * 64 * 2 / 1e12);
}

TEST_F(SimPrice, AWindowBoundsPairsAndKv) {
  const Profile p = profile();
  Attention op = attention(1000);
  op.window = 72;  // and a tile of 128 keys that its edge cuts
  const double pairs = 200.0 * 201 / 2 + 800 * 200;
  EXPECT_DOUBLE_EQ(seconds(p, op), 4.0 * 8 * 64 * pairs / 100e12);
  op.past = 99'999;
  op.tokens = 1;
  op.window = 20'000;
  EXPECT_DOUBLE_EQ(seconds(p, op), 2.0 * 20'001 * 2 * 64 * 2 / 1e12) << "K and V that are seen";
}

// A launch floor, and the same ops again without one.
class SimSequences : public SimPrice {
 protected:
  static constexpr double kFloor = 5e-6;

  static Profile with_floor() {
    nlohmann::json json = nlohmann::json::parse(test_profile());
    for (const char* key : {"low", "value", "high"}) json["launch_floor"][key] = kFloor;
    return profile(json.dump());
  }
  static double bytes(const Profile& profile, const Op& op) {
    return of(Pricer(profile).price(op)->amounts, Resource::hbm);
  }
  // `op` of eight sequences takes the FLOPs and bytes of eight, and a floor as one does.
  template <class Sequences>
  static void expect_one_launch(Sequences op, double floors) {
    const Profile none = profile(), floor = with_floor();
    const double one = seconds(none, op), moved = bytes(none, op);
    ASSERT_LT(8 * one, kFloor);
    EXPECT_DOUBLE_EQ(seconds(floor, op), floors * kFloor);
    op.sequences = 8;
    EXPECT_NEAR(seconds(none, op), 8 * one, 1e-9 * one);
    EXPECT_NEAR(bytes(none, op), 8 * moved, 1e-9 * moved);
    EXPECT_DOUBLE_EQ(seconds(floor, op), floors * kFloor);
  }
};

TEST_F(SimSequences, OfOneOpPayOneLaunch) {
  Attention decode = attention(1);
  decode.past = 255;
  expect_one_launch(decode, 1);
  decode.window = 100;
  expect_one_launch(decode, 1);
  RopeAppend append{};
  append.tokens = 1;
  append.heads = 8;
  append.kv = decode.kv;
  append.dtype = DType::bf16;
  expect_one_launch(append, 1);
}

TEST_F(SimSequences, DoNotSeeOneAnother) {
  const Profile p = profile();
  Attention op = attention(1000);
  op.sequences = 3;
  EXPECT_DOUBLE_EQ(seconds(p, op), 3 * 4.0 * 8 * 64 * 500500 / 100e12) << "each its own triangle";
  EXPECT_DOUBLE_EQ(bytes(p, op), 3 * (2.0 * 2 * 64 * 2 * 1000 + 2.0 * 1000 * 8 * 64 * 2));
}

// Absorbed, for one new token: the append, the expansion's product, and attention.
TEST_F(SimSequences, OfLatentsAreExpandedOrAbsorbedTogether) {
  MlaAttention op{};
  op.tokens = 1, op.past = 255, op.heads = 16;
  op.kv_rank = 512, op.nope_dim = 128, op.rope_dim = 64, op.v_dim = 128;
  op.kv.kv_heads = 1, op.kv.head_dim = 576;
  op.dtype = op.kv.dtype = DType::bf16;
  const Profile floor = with_floor();
  EXPECT_DOUBLE_EQ(seconds(floor, op), 3 * kFloor);
  op.sequences = 8;
  EXPECT_DOUBLE_EQ(seconds(floor, op), 3 * kFloor);
  op.past = 0, op.tokens = 4096, op.sequences = 2;  // expanded: everything twice
  const double append = 2.0 * 4096 * (16 * 64 + 576) * 2 / 1e12;
  const double expansion = 2.0 * 4096 * 16 * 256 * 512 / 100e12;
  const double pairs = 4096.0 * 4097 / 2;
  EXPECT_NEAR(seconds(profile(), op), 2 * (append + expansion + 2 * 16 * 320 * pairs / 50e12),
              1e-12);
  op.sequences = UINT32_MAX;
  EXPECT_EQ(Pricer(floor).price(Op{op}).code(), Code::unsupported) << "no product has such rows";
}

// Absorbed: one token reads its latents and the expansion once; many compute.
TEST_F(SimSequences, OfLatentsShareTheExpansionThatIsAbsorbed) {
  const Profile p = profile();
  MlaAttention op{};
  op.heads = 16, op.kv_rank = 512, op.nope_dim = 128, op.rope_dim = 64, op.v_dim = 128;
  op.kv.kv_heads = 1, op.kv.head_dim = 576;
  op.dtype = op.kv.dtype = DType::bf16;
  for (const double n : {1.0, 8.0}) {
    op.sequences = static_cast<std::uint32_t>(n);
    op.tokens = 1, op.past = 4095;
    const double append = 2 * n * (16 * 64 + 576) * 2 / 1e12, weights = 4096.0 * 512 * 2 / 1e12;
    EXPECT_NEAR(seconds(p, op), append + weights + n * 4096 * 576 * 2 / 1e12, 1e-12);
    op.tokens = 64, op.past = 4032;
    const double product = std::max(weights, 2 * n * 64 * 4096 * 512 / 100e12);
    const double pairs = n * (64.0 * 4032 + 64 * 65 / 2);
    EXPECT_NEAR(seconds(p, op), 64 * append + product + 2 * 16 * (576 + 512) * pairs / 50e12,
                1e-12);
  }
}

TEST_F(SimPrice, ANarrowerCacheIsReadFaster) {
  const Profile p = profile();
  Attention op{};
  op.tokens = 1;
  op.past = 99'999;
  op.heads = 8;
  op.kv.kv_heads = 2;
  op.kv.head_dim = 64;
  op.dtype = DType::bf16;
  op.kv.dtype = DType::fp8;
  EXPECT_DOUBLE_EQ(seconds(p, op), 2.0 * 100'000 * 2 * (64 + 4) / 1e12) << "values and a scale";
  nlohmann::json json = nlohmann::json::parse(test_profile());
  nlohmann::json shape = {{"heads", 8}, {"kv_heads", 2}, {"head_dim", 64}};
  shape["latency"] = json["copy"]["dma"]["in"];
  shape["latency"]["unit"] = "s";
  shape["latency"]["points"] = {{100, 1e-3}};
  json["compute"]["bf16"]["attention"] = {{"shapes", {shape}}};
  const Profile table = profile(json.dump());
  EXPECT_EQ(Pricer(table).price(Op{op}).code(), Code::unsupported) << "only bf16 KV is known";
  json["compute"]["bf16"]["attention"]["shapes"][0]["kv_dtype"] = "fp8";
  const Profile narrow = profile(json.dump());
  const double as_fp8 = seconds(narrow, op);
  op.kv.dtype = DType::int8;
  EXPECT_DOUBLE_EQ(seconds(narrow, op), as_fp8);
  EXPECT_EQ(Pricer(table).price(Op{op}).code(), Code::unsupported) << "only bf16 KV is known";
}

TEST_F(SimPrice, AppendingWritesTheBytesOfTheCache) {
  const Profile p = profile();
  RopeAppend op{};
  op.tokens = 1'000'000, op.heads = 8, op.dtype = DType::bf16;
  op.kv.kv_heads = 2, op.kv.head_dim = 64;
  const double read = 2.0 * 8 * 64 * 2 + 2.0 * 2 * 64 * 2;  // q is written too
  for (const auto& [dtype, vector] :
       {std::pair{DType::bf16, 64 * 2}, {DType::fp8, 64 + 4}, {DType::int8, 64 + 4}}) {
    op.kv.dtype = dtype;
    EXPECT_DOUBLE_EQ(seconds(p, op), 1e6 * (read + 2.0 * 2 * vector) / 1e12);
  }
}

TEST_F(SimPrice, ExpertsTakeTheirFlopsAndEachTouchedOnesWeights) {
  const Profile p = profile();
  MixtureOfExperts op{};
  op.tokens = 4000, op.hidden = 1000, op.width = 500, op.experts = 8, op.active = 2;
  op.dtype = DType::bf16;
  const double rows = 8000, products = 2 * rows * 3 * 500 * 1000 / 50e12;
  const double between = 3 * rows * 500 * 2 / 1e12, sum = (rows + 4000) * 1000 * 2 / 1e12;
  EXPECT_NEAR(seconds(p, op), products + between + sum, 1e-12);
  op.add = true;  // reads what was there
  EXPECT_NEAR(seconds(p, op), products + between + sum + 4000 * 1000 * 2 / 1e12, 1e-12);
  op.add = false;
  op.tokens = 1;  // two experts' weights, and hardly anything else
  const double weights = 2 * 3 * 500 * 1000 * 2 / 1e12;
  EXPECT_NEAR(seconds(p, op), weights, 0.01 * weights);
}

TEST_F(SimPrice, LatentsAreExpandedForManyTokensAndAbsorbedForFew) {
  const Profile p = profile();
  MlaAttention op{};
  op.tokens = 4096, op.heads = 16;
  op.kv_rank = 512, op.nope_dim = 128, op.rope_dim = 64, op.v_dim = 128;
  op.kv.kv_heads = 1, op.kv.head_dim = 576;
  op.dtype = op.kv.dtype = DType::bf16;
  const double append = 2.0 * 4096 * (16 * 64 + 576) * 2 / 1e12;
  const double expansion = 2.0 * 4096 * 16 * 256 * 512 / 100e12;
  const double pairs = 4096.0 * 4097 / 2;
  EXPECT_NEAR(seconds(p, op), append + expansion + 2 * 16 * 320 * pairs / 50e12, 1e-12);
  op.past = 100'000;
  op.tokens = 1;  // latents are read as they are
  const double read = 100'001.0 * 576 * 2 / 1e12;
  EXPECT_NEAR(seconds(p, op), read, 0.1 * read);
}

TEST_F(SimPrice, AnAllReduceGoesRoundTheRing) {
  AllReduce op{};
  op.tokens = 1000, op.width = 4096, op.ranks = 4, op.dtype = DType::bf16;
  EXPECT_DOUBLE_EQ(seconds(profile(), op), 2 * 0.75 * 1000 * 4096 * 2 / 50e9 + 1e-5);
  op.ranks = 1;
  EXPECT_EQ(seconds(profile(), op), 0);
}

TEST_F(SimPrice, WhatAProfileLeavesOutIsRefusedByName) {
  nlohmann::json json = nlohmann::json::parse(test_profile());
  json.erase("peer");
  json["compute"]["bf16"].erase("experts");
  json["compute"]["bf16"].erase("latent_attention");
  const Profile p = profile(json.dump());
  const auto refusal = [&](const Op& op) { return Pricer(p).price(op).status(); };
  AllReduce sum{};
  sum.ranks = 2;
  MixtureOfExperts experts{};
  MlaAttention latent{};
  experts.dtype = latent.dtype = DType::bf16;
  for (const auto& [status, key] : {std::pair{refusal(sum), "peer"},
                                    {refusal(experts), "experts"},
                                    {refusal(latent), "latent attention"}}) {
    EXPECT_EQ(status.code, Code::unsupported);
    EXPECT_NE(status.text.find(key), std::string::npos) << status.text;
  }
}

TEST_F(SimPrice, MemoryOpsTakeTheirBytes) {
  const Profile p = profile();
  Norm norm{};
  norm.tokens = 10;
  norm.width = 100;
  norm.dtype = DType::bf16;
  EXPECT_DOUBLE_EQ(seconds(p, norm), 2 * 2000 / 1e12);
  norm.x.buffer = onto_.get();
  EXPECT_DOUBLE_EQ(seconds(p, norm), 4 * 2000 / 1e12);
  Activation activation{};
  activation.tokens = 10;
  activation.width = 100;
  activation.dtype = DType::f32;
  EXPECT_DOUBLE_EQ(seconds(p, activation), 3 * 4000 / 1e12);
}

TEST_F(SimPrice, RowsThatBecomeNarrowAreReadWideAndWrittenNarrow) {
  const Profile p = profile();
  Quantise op{};
  op.rows = 1000;
  op.row = {.vectors = 10, .width = 100, .wide = DType::bf16, .narrow = DType::fp8};
  const double bytes = 1000 * (2000 + 1000 + 10 * 4 + 4);
  EXPECT_DOUBLE_EQ(seconds(p, op), bytes / 1e12);
  EXPECT_DOUBLE_EQ(seconds(p, Dequantise{{}, {}, {}, op.rows, op.row}), bytes / 1e12);
}

TEST_F(SimPrice, ChecksumsReadTheirRowsOnceWhereverTheyLie) {
  const Profile p = profile();
  Checksum op{};
  op.source = {onto_.get(), 0, 4096};
  op.rows = 1000;
  op.row_bytes = 1'000'000;
  EXPECT_DOUBLE_EQ(seconds(p, op), 1e9 / 1e12);
  op.source.buffer = host_.get();
  EXPECT_DOUBLE_EQ(seconds(p, op), 1e9 / p.link.in.value);
  const Price price = *Pricer(p).price(Op{op});
  EXPECT_DOUBLE_EQ(price.amounts[static_cast<std::size_t>(Resource::link_in)], 1e9);
  EXPECT_DOUBLE_EQ(price.amounts[static_cast<std::size_t>(Resource::hbm)], 0);
}

TEST_F(SimPrice, WhatTheProfileDoesNotKnowIsUnsupported) {
  const Profile p = profile();
  Gemm op = gemm(1, 1, 1);
  op.dtype = DType::fp8;
  EXPECT_EQ(Pricer(p).price(Op{op}).code(), Code::unsupported);
  nlohmann::json json = nlohmann::json::parse(test_profile());
  json["copy"]["kernel"] = nlohmann::json::object();
  const Profile without = profile(json.dump());
  const Region region = whole(*host_, *onto_);
  const Regions regions{{&region, 1}, CopyMethod::kernel};
  EXPECT_EQ(Pricer(without).price(regions).code(), Code::unsupported);
}

TEST_F(SimPrice, ACopyUsesTheLinkAndBothMemories) {
  const Profile p = profile();
  const Region region = whole(*host_, *onto_);
  const Price price = *Pricer(p).price(Regions{{&region, 1}, CopyMethod::dma});
  EXPECT_DOUBLE_EQ(price.seconds, 0.01);
  EXPECT_EQ(of(price.amounts, Resource::link_in), 1e8);
  EXPECT_EQ(of(price.amounts, Resource::link_out), 0);
  EXPECT_EQ(of(price.amounts, Resource::host_dram), 1e8);
  EXPECT_EQ(of(price.amounts, Resource::compute), 0);
  const Price kernel = *Pricer(p).price(Regions{{&region, 1}, CopyMethod::kernel});
  EXPECT_DOUBLE_EQ(of(kernel.amounts, Resource::compute), 0.1 * 0.01);
}

TEST_F(SimPrice, PageableMemoryIsStagedByOneCore) {
  const Profile p = profile();
  const Region region = whole(*pageable_, *onto_);
  EXPECT_DOUBLE_EQ(Pricer(p).price(Regions{{&region, 1}, CopyMethod::dma})->seconds, 0.02);
}

// Curves know many regions in flight: a region below the first point takes as long as that one.
TEST_F(SimPrice, SmallRegionsFollowTheCurve) {
  nlohmann::json json = nlohmann::json::parse(test_profile());
  json["copy"]["dma"]["in"]["points"] = {{1000, 1e9}, {4000, 4e9}};
  const Profile p = profile(json.dump());
  const auto price = [&](std::uint64_t bytes) {
    const std::vector<Region> list(10, {{host_.get(), 0, bytes}, {onto_.get(), 0, bytes}});
    return Pricer(p).price(Regions{list, CopyMethod::dma})->seconds;
  };
  EXPECT_NEAR(price(1000), 10e-6, 1e-15);
  EXPECT_NEAR(price(1), 10e-6, 1e-15);
  EXPECT_NEAR(price(2000), 10e-6, 1e-15);
  EXPECT_NEAR(price(8000), 20e-6, 1e-15);
}

}  // namespace
}  // namespace kvroof::sim
