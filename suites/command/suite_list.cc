// SPDX-License-Identifier: Apache-2.0
#include "suites/command/suite_list.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "suites/crossover/kind.h"
#include "suites/ttft/kind.h"

namespace kvroof {

std::span<const SuiteKind> suite_list() {
  static const SuiteKind kSuites[] = {ttft_kind(), crossover_kind()};
  return kSuites;
}

std::string suite_names() {
  std::vector<std::string_view> names;
  for (const SuiteKind& suite : suite_list()) names.push_back(suite.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

const SuiteKind* find_suite(std::string_view name) {
  const auto all = suite_list();
  const auto it = std::ranges::find(all, name, &SuiteKind::name);
  return it == all.end() ? nullptr : &*it;
}

}  // namespace kvroof
