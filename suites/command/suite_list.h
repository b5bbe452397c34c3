// SPDX-License-Identifier: Apache-2.0
// Every suite that `kvroof run` knows, by name.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "suites/harness/suite.h"

namespace kvroof {

std::span<const SuiteKind> suite_list();

std::string suite_names();  // "ttft, crossover"

// The suite of that name, or null.
const SuiteKind* find_suite(std::string_view name);

}  // namespace kvroof
