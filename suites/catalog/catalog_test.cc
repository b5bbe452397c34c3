// SPDX-License-Identifier: Apache-2.0
// The catalogue's devices: each opens, each of its figures names a public source, and none of them
// comes from a time or rate that the model is to predict.
#include "suites/catalog/catalog.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "backends/registry/registry.h"
#include "suites/catalog/sources.h"

namespace kvroof {
namespace {

using Json = nlohmann::json;

TEST(Catalog, HoldsTheFilesByName) {
  const CatalogEntry* const h100 = find_entry(device_profiles(), "h100-sxm");
  ASSERT_NE(h100, nullptr);
  EXPECT_EQ(Json::parse(h100->text)["name"], "NVIDIA H100 SXM 80GB (modelled)");
  EXPECT_NE(find_entry(device_profiles(), "mi300x"), nullptr);
  EXPECT_EQ(find_entry(device_profiles(), "h100"), nullptr);
}

TEST(Catalog, EveryDeviceOpens) {
  for (const CatalogEntry& entry : device_profiles()) {
    DeviceSpec spec;
    spec.adapter = "sim";
    spec.selector = entry.name;
    spec.profile_text = entry.text;
    const auto device = open_device(spec);
    EXPECT_TRUE(device.ok()) << entry.name << ": " << device.status().text;
  }
}

TEST(Catalog, BasesAreWhatTheFiguresAllow) {
  const auto basis = [](std::string_view name) {
    DeviceSpec spec;
    spec.adapter = "sim";
    spec.profile_text = find_entry(device_profiles(), name)->text;
    return (*open_device(spec))->info().basis;
  };
  EXPECT_EQ(basis("h100-sxm"), Basis::published);
  EXPECT_EQ(basis("h200-sxm"), Basis::published);
  EXPECT_EQ(basis("b200"), Basis::published);
  EXPECT_EQ(basis("a100-sxm-80gb"), Basis::datasheet);  // copy rates by size are assumed
  EXPECT_EQ(basis("mi300x"), Basis::datasheet);
}

TEST(Catalog, EveryFigureHasAPublicSource) {
  for (const CatalogEntry& entry : device_profiles()) {
    EXPECT_EQ(source_problems(Json::parse(entry.text)), std::vector<std::string>{}) << entry.name;
  }
}

TEST(Catalog, EveryFigureThatDurationsDependOnHasARange) {
  for (const CatalogEntry& entry : device_profiles()) {
    EXPECT_EQ(width_problems(Json::parse(entry.text)), std::vector<std::string>{}) << entry.name;
  }
}

TEST(Catalog, NoFigureComesFromWhatTheModelIsToPredict) {
  const auto rows = read_measurements(KVROOF_MEASUREMENTS);
  if (rows.empty()) {
    GTEST_SKIP() << "no table of published measurements at " << KVROOF_MEASUREMENTS;
  }
  for (const CatalogEntry& entry : device_profiles()) {
    EXPECT_EQ(row_problems(Json::parse(entry.text), rows), std::vector<std::string>{})
        << entry.name;
  }
}

class PlantedProfile : public testing::Test {
 protected:
  Json json_ = Json::parse(find_entry(device_profiles(), "h100-sxm")->text);
  const MeasurementMetrics rows_ = {{"B036", "bandwidth"},
                                    {"A001", "ttft_recompute"},
                                    {"C281", "prefill_time_kernel_sum"},
                                    {"A400", "prefill_tps"},
                                    {"A401", "output_tps_per_gpu"}};
};

TEST_F(PlantedProfile, AFigureWithoutASourceIsFound) {
  json_["launch_floor"].erase("source");
  json_["copy"]["dma"]["in"]["source"] = "everybody knows";
  EXPECT_EQ(source_problems(json_).size(), 2u);
}

TEST_F(PlantedProfile, ASourceThatSpeaksOfWhatIsPredictedIsFound) {
  json_["launch_floor"]["source"] = "https://example.org/ttft";
  EXPECT_EQ(source_problems(json_).size(), 1u);
}

TEST_F(PlantedProfile, AFigureWithoutARangeIsFound) {
  json_["hbm_achieved"]["low"] = json_["hbm_achieved"]["high"];
  json_["copy"]["dma"]["in"]["low"] = json_["copy"]["dma"]["in"]["high"] = 1;
  EXPECT_EQ(width_problems(json_).size(), 2u);
}

TEST_F(PlantedProfile, RowsOfPredictedMetricsAreFound) {
  const auto problems = [&](Json rows) {
    Json profile = {{"launch_floor", json_["launch_floor"]}};
    profile["launch_floor"]["rows"] = std::move(rows);
    return row_problems(profile, rows_).size();
  };
  EXPECT_EQ(problems({"B036"}), 0u);
  EXPECT_EQ(problems({"A001"}), 1u);
  EXPECT_EQ(problems({"C281", "A400", "A401"}), 3u);
  EXPECT_EQ(problems({"B999"}), 1u);  // no such row
}

}  // namespace
}  // namespace kvroof
