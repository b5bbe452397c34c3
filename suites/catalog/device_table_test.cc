// SPDX-License-Identifier: Apache-2.0
// Every row of the table of devices has a profile with the same peaks and capacity.
#include "suites/catalog/device_table.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "suites/catalog/catalog.h"

namespace kvroof {
namespace {

using Json = nlohmann::json;

TEST(DeviceTable, NamesAreThoseOfTheCatalogue) {
  EXPECT_EQ(catalog_name("H100 SXM"), "h100-sxm");
  EXPECT_EQ(catalog_name("GH200 (96GB HBM3)"), "gh200");
  EXPECT_EQ(catalog_name("MI250X (both GCDs)"), "mi250x");
  EXPECT_EQ(catalog_name("gpt-oss-20b / x"), "gpt-oss-20b");
}

TEST(DeviceTable, EveryRowHasItsProfile) {
  const std::vector<DeviceRow> rows = read_devices(KVROOF_DEVICES);
  if (rows.empty()) GTEST_SKIP() << "no table of devices at " << KVROOF_DEVICES;
  for (const DeviceRow& row : rows) {
    const CatalogEntry* const entry = find_entry(device_profiles(), row.name);
    ASSERT_NE(entry, nullptr) << row.name;
    const Json profile = Json::parse(entry->text);
    EXPECT_DOUBLE_EQ(profile["compute"]["bf16"]["peak"]["value"], row.bf16_flops) << row.name;
    EXPECT_DOUBLE_EQ(profile["memory"]["value"], row.memory_bytes) << row.name;
    EXPECT_DOUBLE_EQ(profile["link"]["peak"]["value"], row.link_rate) << row.name;
    EXPECT_LE(profile["hbm_achieved"]["high"], row.hbm_rate) << row.name;
  }
}

}  // namespace
}  // namespace kvroof
