// SPDX-License-Identifier: Apache-2.0
// What a serving engine adds to each request, beside what the device does.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "backends/api/status.h"
#include "suites/harness/statistics.h"

namespace kvroof {

// `first_step_seconds` once, whatever the plan; `prepare_seconds_per_16_tokens` of a load, before
// its first copy.
struct ServingCost {
  std::string text = "none";  // as on the command line, and in the record
  double first_step_seconds = 0, prepare_seconds_per_16_tokens = 0;
  // Between which the two are drawn for intervals; empty: they are exact.
  std::optional<Bounds> first_step_range{}, prepare_range{};
};

// "none", "vllm" or the seconds of the first step.
Result<ServingCost> parse_serving_cost(std::string_view text);

// Both figures drawn uniformly between their ends, by `seed`.
ServingCost draw(const ServingCost& cost, std::uint64_t seed);

}  // namespace kvroof
