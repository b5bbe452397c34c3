// SPDX-License-Identifier: Apache-2.0
// What `--resume` answers where the result file is finished already.
#pragma once
#include <cstddef>
#include <span>
#include <string>

#include "suites/command/runner.h"
#include "suites/harness/record.h"

namespace kvroof {

// Says so and returns the exit code of the finished run; refuses a file that is no record, that is
// of another run than `header`, or that lacks a selected group of `runner`.
int report_finished(const Runner& runner, std::span<const std::size_t> selected,
                    const std::string& file, const RunHeader& header);

}  // namespace kvroof
