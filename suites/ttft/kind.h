// SPDX-License-Identifier: Apache-2.0
// Suite `ttft` as a row of the command's table.
#pragma once
#include "suites/harness/suite.h"

namespace kvroof {

SuiteKind ttft_kind();

}  // namespace kvroof
