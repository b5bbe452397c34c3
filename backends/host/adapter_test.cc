// SPDX-License-Identifier: Apache-2.0
#include "backends/host/adapter.h"

#include <gtest/gtest.h>

#include <string>

namespace kvroof::host {
namespace {

TEST(Adapter, DescribesAMeasuredMachine) {
  const AdapterReport report = probe();
  EXPECT_EQ(report.state, AdapterState::ready);
  ASSERT_EQ(report.devices.size(), 1u);
  const DeviceInfo& info = report.devices[0];
  EXPECT_EQ(info.backend, "host");
  EXPECT_EQ(info.basis, Basis::measured);
  EXPECT_GT(info.memory_bytes, 0u);
  EXPECT_EQ(info.memory_bytes, info.host_memory_bytes);
}

TEST(Adapter, RefusesUnknownOptionsAndOtherSelectors) {
  const auto odd = open({"host", "", {{"colour", "red"}}, ""});
  EXPECT_EQ(odd.code(), Code::invalid);
  EXPECT_NE(odd.status().text.find("colour"), std::string::npos);
  EXPECT_EQ(open({"host", "1", {}, ""}).code(), Code::unsupported);
  EXPECT_EQ(open({"host", "x", {}, ""}).code(), Code::invalid);
  EXPECT_TRUE(open({"host", "0", {}, ""}));
}

}  // namespace
}  // namespace kvroof::host
