// SPDX-License-Identifier: Apache-2.0
#include "backends/conformance/suite.h"

#include "backends/conformance/rig.h"

namespace kvroof::conformance {

std::vector<Case> cases(Opener open, std::initializer_list<std::span<const Check> (*)()> groups) {
  std::vector<Case> out;
  for (const auto group : groups) {
    for (const Check& check : group()) out.push_back({open, check});
  }
  return out;
}

void PrintTo(const Case& held, std::ostream* out) { *out << held.check.name; }

std::string case_name(const testing::TestParamInfo<Case>& info) {
  return std::string(info.param.check.name);
}

std::optional<std::string> problem_of(Device& device, const Check& check) {
  try {
    Rig rig(device);
    check.run(rig);
    return std::nullopt;
  } catch (const std::exception& broken) {
    return broken.what();
  }
}

TEST_P(Conformance, Holds) {
  const auto device = GetParam().open();
  ASSERT_NE(device, nullptr) << "the device did not open";
  const auto problem = problem_of(*device, GetParam().check);
  EXPECT_FALSE(problem.has_value()) << *problem;
}

}  // namespace kvroof::conformance
