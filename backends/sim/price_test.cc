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
  Attention op{};
  op.tokens = 100;
  op.heads = 8;
  op.kv.kv_heads = 2;
  op.kv.head_dim = 64;
  op.dtype = op.kv.dtype = DType::bf16;
  EXPECT_DOUBLE_EQ(seconds(p, op), 4.0 * 8 * 64 * 5050 / 100e12);
  op.tokens = 1;
  op.past = 99'999;  // K and V of 100,000 tokens, two heads of 64, two bytes each
  EXPECT_DOUBLE_EQ(seconds(p, op), 2.0 * 100'000 * 2 * 64 * 2 / 1e12);
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
