// SPDX-License-Identifier: Apache-2.0
// A small record with every kind of case, metric and answer in it, for tests.
#pragma once
#include <vector>

#include "suites/harness/record.h"

namespace kvroof {

RunHeader sample_header();
std::vector<Case> sample_cases();
std::vector<Answer> sample_answers();

}  // namespace kvroof
