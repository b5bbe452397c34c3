// SPDX-License-Identifier: Apache-2.0
// Holds a device to the seam's contract: one line an adapter, each check a test of its own on a
// freshly opened device.
//   KVROOF_CONFORMANCE(host, open_host, rule_checks, hold_checks, byte_checks);
#pragma once
#include <gtest/gtest.h>

#include <initializer_list>
#include <memory>
#include <optional>
#include <ostream>
#include <vector>

#include "backends/api/device.h"
#include "backends/conformance/check.h"

namespace kvroof::conformance {

using Opener = std::unique_ptr<Device> (*)();

struct Case {
  Opener open;
  Check check;
};
void PrintTo(const Case& held, std::ostream* out);  // GoogleTest's hook, hence its name

std::vector<Case> cases(Opener open, std::initializer_list<std::span<const Check> (*)()> groups);
std::string case_name(const testing::TestParamInfo<Case>& info);

// What the device does wrong, or nothing.
std::optional<std::string> problem_of(Device& device, const Check& check);

class Conformance : public testing::TestWithParam<Case> {};

}  // namespace kvroof::conformance

#define KVROOF_CONFORMANCE(name, open, ...)                                                    \
  INSTANTIATE_TEST_SUITE_P(name, Conformance,                                                  \
                           testing::ValuesIn(kvroof::conformance::cases(open, {__VA_ARGS__})), \
                           kvroof::conformance::case_name)
