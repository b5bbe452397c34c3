// SPDX-License-Identifier: Apache-2.0
// Suite `crossover` as a row of the command's table.
#pragma once
#include "suites/harness/suite.h"

namespace kvroof {

SuiteKind crossover_kind();

}  // namespace kvroof
