// SPDX-License-Identifier: Apache-2.0
// A broken profile is refused by a sentence that names the key.
#include "backends/sim/profile.h"

#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "backends/sim/test_profile.h"

namespace kvroof::sim {
namespace {

using Json = nlohmann::json;

Json whole() { return Json::parse(test_profile()); }

TEST(Profile, ReadsEveryFigure) {
  const Result<Profile> profile = parse_profile(test_profile());
  ASSERT_TRUE(profile.ok()) << profile.status().text;
  EXPECT_EQ(profile->name, "a made-up device");
  EXPECT_EQ(profile->memory_bytes.value, 1e9);
  EXPECT_EQ(profile->link.total_dma.value, 16e9);
  EXPECT_EQ(profile->copy[2].out->at(5), 10e9);
  EXPECT_EQ(profile->gemm.at(DType::bf16).efficiency->source, "made up");
  EXPECT_EQ(profile->basis, Basis::datasheet);
}

TEST(Profile, ItsBasisIsTheWeakestThatDurationsDependOn) {
  Json json = whole();
  const std::function<void(Json&)> publish = [&](Json& node) {
    if (node.contains("basis")) node["basis"] = "published";
    if (!node.is_structured()) return;
    for (Json& child : node) publish(child);
  };
  publish(json);
  json["memory"]["basis"] = "datasheet";
  json["host_dram"]["basis"] = "datasheet";  // 100 GB/s, and all copies together move 16
  EXPECT_EQ(parse_profile(json.dump())->basis, Basis::published);
  for (const char* each : {"value", "low", "high"}) json["host_dram"][each] = 12e9;
  EXPECT_EQ(parse_profile(json.dump())->basis, Basis::datasheet);
  json["host_dram"]["basis"] = "published";
  json["hbm_achieved"]["basis"] = "datasheet";
  EXPECT_EQ(parse_profile(json.dump())->basis, Basis::datasheet);
}

struct Breakage {
  const char* label;
  void (*act)(Json&);
  const char* named;  // what the sentence must contain
};

class BrokenProfile : public testing::TestWithParam<Breakage> {};

TEST_P(BrokenProfile, IsRefusedByName) {
  Json json = whole();
  GetParam().act(json);
  const Result<Profile> profile = parse_profile(json.dump());
  ASSERT_EQ(profile.code(), Code::invalid);
  EXPECT_NE(profile.status().text.find(GetParam().named), std::string::npos)
      << profile.status().text;
}

const Breakage kBreakages[] = {
    {"not_an_object", [](Json& j) { j = Json::array(); }, "must be a JSON object"},
    {"another_format", [](Json& j) { j["format"] = "2"; }, "'format'"},
    {"missing_key", [](Json& j) { j.erase("launch_floor"); }, "'launch_floor' is missing"},
    {"missing_inner_key", [](Json& j) { j["link"].erase("in"); }, "'link.in' is missing"},
    {"unknown_key", [](Json& j) { j["hbm"] = 1; }, "'hbm'"},
    {"unknown_inner_key", [](Json& j) { j["link"]["up"] = 1; }, "'link.up'"},
    {"unknown_in_value", [](Json& j) { j["memory"]["min"] = 1; }, "'memory.min'"},
    {"unknown_dtype", [](Json& j) { j["compute"]["f64"] = 1; }, "'compute.f64'"},
    {"missing_source", [](Json& j) { j["memory"].erase("source"); }, "'memory.source'"},
    {"empty_source", [](Json& j) { j["memory"]["source"] = ""; }, "'memory.source'"},
    {"missing_basis", [](Json& j) { j["memory"].erase("basis"); }, "'memory.basis'"},
    {"unknown_basis", [](Json& j) { j["memory"]["basis"] = "guess"; }, "'memory.basis'"},
    {"measured_is_no_models", [](Json& j) { j["memory"]["basis"] = "measured"; }, "basis"},
    {"wrong_unit", [](Json& j) { j["memory"]["unit"] = "GB"; }, "'memory.unit'"},
    {"low_above", [](Json& j) { j["memory"]["low"] = 2e9; }, "'memory.low'"},
    {"high_below", [](Json& j) { j["memory"]["high"] = 1; }, "'memory.high'"},
    {"negative", [](Json& j) { j["launch_floor"]["low"] = -1; }, "'launch_floor.low'"},
    {"zero_rate",
     [](Json& j) {
       for (const char* key : {"low", "value"}) j["hbm_achieved"][key] = 0;
     },
     "'hbm_achieved.low'"},
    {"share_above_one", [](Json& j) { j["kernel_copy_compute"]["high"] = 1.1; },
     "'kernel_copy_compute.high'"},
    {"text_for_number", [](Json& j) { j["memory"]["value"] = "1"; }, "'memory.value'"},
    {"no_points", [](Json& j) { j["copy"]["dma"]["in"]["points"] = Json::array(); },
     "'copy.dma.in.points'"},
    {"falling_points",
     [](Json& j) {
       j["copy"]["dma"]["in"]["points"] = {{2, 1}, {1, 1}};
     },
     "'copy.dma.in.points'"},
    {"odd_point",
     [](Json& j) {
       j["copy"]["dma"]["in"]["points"] = {{1, 1, 1}};
     },
     "'copy.dma.in.points'"},
    {"negative_point",
     [](Json& j) {
       j["copy"]["dma"]["in"]["points"] = {{1, -1}};
     },
     "'copy.dma.in.points'"},
    {"curve_low", [](Json& j) { j["copy"]["dma"]["in"]["low"] = 1.5; }, "'copy.dma.in.low'"},
    {"curve_high", [](Json& j) { j["copy"]["dma"]["in"]["high"] = 0.5; }, "'copy.dma.in.high'"},
    {"no_spread", [](Json& j) { j["copy"]["dma"]["in"].erase("spread"); }, "'copy.dma.in.spread'"},
    {"no_shapes", [](Json& j) { j["compute"]["bf16"]["gemm"] = Json::object(); },
     "'compute.bf16.gemm.shapes'"},
    {"copy_above_link",
     [](Json& j) {
       j["copy"]["dma"]["in"]["points"] = {{1, 11e9}};
     },
     "'copy.dma.in'"},
    {"link_above_peak",
     [](Json& j) {
       for (const char* key : {"low", "value", "high"}) j["link"]["peak"][key] = 5e9;
     },
     "'link.in'"},
    {"derate_that_quickens",
     [](Json& j) {
       for (const char* key : {"low", "value", "high"}) j["derates"]["gemm"][key] = 0.5;
     },
     "'derates.gemm.low' must be 1 or more"},
    {"total_above_both",
     [](Json& j) {
       for (const char* key : {"low", "value", "high"}) j["link"]["total_dma"][key] = 21e9;
     },
     "'link.total_dma'"},
};

INSTANTIATE_TEST_SUITE_P(Each, BrokenProfile, testing::ValuesIn(kBreakages),
                         [](const auto& tested) { return std::string(tested.param.label); });

TEST(Profile, TextThatIsNotJsonIsRefused) {
  EXPECT_EQ(parse_profile("{").code(), Code::invalid);
  EXPECT_EQ(parse_profile("").code(), Code::invalid);
  EXPECT_EQ(parse_profile(std::string(100'000, '[')).code(), Code::invalid);
}

TEST(Curve, IsStraightInLogLogAndFlatOutside) {
  Curve curve;
  curve.points = {{10, 1}, {1000, 100}};
  EXPECT_NEAR(curve.at(100), 10, 1e-12);
  EXPECT_EQ(curve.at(1), 1);
  EXPECT_EQ(curve.at(1e6), 100);
}

}  // namespace
}  // namespace kvroof::sim
