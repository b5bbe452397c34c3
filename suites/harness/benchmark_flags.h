// SPDX-License-Identifier: Apache-2.0
// Google Benchmark's flags as kvroof takes them: checked here, because the library itself ends the
// process on a wrong value.
#pragma once
#include <string>
#include <string_view>

#include "backends/api/status.h"

namespace kvroof {

struct BenchmarkFlag {
  std::string name, value;  // "benchmark_filter"; a boolean given alone has the value "true"
};

// `invalid` names what is wrong with `argument`: not a flag of Google Benchmark, of a wrong value,
// or one that would change the sampling.
Result<BenchmarkFlag> parse_benchmark_flag(std::string_view argument);

}  // namespace kvroof
