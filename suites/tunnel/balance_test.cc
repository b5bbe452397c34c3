// SPDX-License-Identifier: Apache-2.0
// Both machines are made-up simulated ones here: the tunnel is balanced by their virtual clocks.
#include "suites/tunnel/balance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "backends/sim/adapter.h"
#include "backends/sim/test_profile.h"
#include "suites/catalog/model_config.h"

namespace kvroof {
namespace {

using testing::HasSubstr;

std::unique_ptr<Device> machine(double memory, double flops = 100e12) {
  auto profile = nlohmann::json::parse(sim::test_profile());
  profile["memory"]["value"] = profile["memory"]["low"] = profile["memory"]["high"] = memory;
  nlohmann::json& peak = profile["compute"]["bf16"]["peak"];
  peak["value"] = peak["low"] = peak["high"] = flops;
  DeviceSpec spec;
  spec.adapter = "sim";
  spec.profile_text = profile.dump();
  return std::move(*sim::open(spec));
}

Result<Balance> balance(Device& large, Device& host, DType dtype = DType::bf16) {
  return find_balance(large, host, *find_model(kTunnelModel), dtype, 1);
}

TEST(Balance, PiIsPrefillTimeOverLinkTimeOfTheReference) {
  const auto large = machine(80e9), host = machine(1e9);
  const auto found = balance(*large, *host);
  ASSERT_TRUE(found.ok()) << found.status().text;
  const ModelShape llama = *find_model(kTunnelReference);
  const double compute = prefill_flops(llama, 0, 10240) / 100e12;
  const double link = static_cast<double>(kv_bytes(llama, DType::bf16, 10240)) / 10e9;
  EXPECT_NEAR(found->pi / (compute / link), 1, 0.1);  // what is no FLOP takes time too
}

TEST(Balance, TheRateGivesTheHostThatPi) {
  const auto large = machine(80e9), host = machine(1e9);
  for (const DType dtype : {DType::bf16, DType::f32}) {
    const auto found = balance(*large, *host, dtype);
    ASSERT_TRUE(found.ok()) << found.status().text;
    const ModelShape tunnel = *find_model(kTunnelModel);
    const double link =
        static_cast<double>(kv_bytes(tunnel, dtype, kBalancedContext)) / found->link_rate;
    EXPECT_NEAR(*found->prefill.median / link, found->pi, 1e-3 * found->pi);
  }
}

TEST(Balance, ComesBackFromARecord) {
  const auto large = machine(80e9), host = machine(1e9);
  const auto found = balance(*large, *host);
  ASSERT_TRUE(found.ok()) << found.status().text;
  const auto back = parse_balance(to_json(*found));
  ASSERT_TRUE(back.ok()) << back.status().text;
  EXPECT_EQ(to_json(*back).dump(), to_json(*found).dump());
  EXPECT_EQ(back->link, found->link);
  EXPECT_FALSE(parse_balance(Json::object()).ok());
}

TEST(Balance, APrefillThatTookAnotherTimeThanWhenTheRateWasSetIsTold) {
  Balance balance;
  balance.prefill.median = 0.100;
  Case one;
  one.params = {{"plan", "recompute"}, {"context_tokens", kBalancedContext}};
  one.metrics.emplace_back("ttft", Metric{});
  const auto told = [&](double seconds) {
    one.metrics.front().second.median = seconds;
    return drift_text(balance, {&one, 1});
  };
  EXPECT_EQ(told(0.109), "");
  EXPECT_THAT(told(0.111), HasSubstr("took 111 ms here and 100 ms when"));
  EXPECT_NE(told(0.089), "");
  one.params["context_tokens"] = 128;
  EXPECT_EQ(told(0.200), "");
}

TEST(Balance, AFasterMachineHasALowerPiAndTheHostASlowerLink) {
  const auto large = machine(80e9), faster = machine(80e9, 200e12), host = machine(1e9);
  const auto slow = balance(*large, *host), fast = balance(*faster, *host);
  ASSERT_TRUE(slow.ok() && fast.ok());
  EXPECT_LT(fast->pi, 0.7 * slow->pi);
  EXPECT_LT(fast->link_rate, 0.7 * slow->link_rate);
}

TEST(Balance, AMachineWithoutRoomForTheReferenceIsRefused) {
  const auto small = machine(1e9), host = machine(1e9);
  const auto found = balance(*small, *host);
  EXPECT_EQ(found.code(), Code::invalid);
  EXPECT_THAT(found.status().text, HasSubstr("llama-3.1-8b can't be simulated on"));
}

TEST(Balance, TheTunnelsModelIsTheCataloguesAlone) {
  ModelShape shape = *find_model(kTunnelModel);
  EXPECT_TRUE(is_tunnel_model(shape));
  shape.source = "tunnel-512.json";
  EXPECT_FALSE(is_tunnel_model(shape));
  EXPECT_FALSE(is_tunnel_model(*find_model("llama-3.2-1b")));
}

}  // namespace
}  // namespace kvroof
