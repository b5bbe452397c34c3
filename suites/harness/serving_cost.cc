// SPDX-License-Identifier: Apache-2.0
#include "suites/harness/serving_cost.h"

#include <charconv>
#include <random>

#include "suites/harness/grid_values.h"

namespace kvroof {
namespace {

// Of vLLM: 3 ms a request, from time to first token with every token in the GPU's cache already (1
// to 8 ms by setting), and 5 us a 16-token block of a load (3 to 6).
ServingCost of_vllm() {
  return {.text = "vllm",
          .first_step_seconds = 3e-3,
          .prepare_seconds_per_16_tokens = 5e-6,
          .first_step_range = Bounds{1e-3, 8e-3},
          .prepare_range = Bounds{3e-6, 6e-6}};
}

}  // namespace

Result<ServingCost> parse_serving_cost(std::string_view text) {
  if (text == "vllm") return of_vllm();
  ServingCost cost{.text = std::string(text)};
  if (text == "none") return cost;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, cost.first_step_seconds);
  const bool in_range = cost.first_step_seconds > 0 && cost.first_step_seconds <= 60;
  if (error == std::errc() && stop == end && in_range) return cost;
  return Status{
      Code::invalid,
      in_quotes(text) + " is not known, expected none, vllm or seconds (above 0, up to 60)"};
}

ServingCost draw(const ServingCost& cost, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto between = [&random](const std::optional<Bounds>& range, double value) {
    const double share = static_cast<double>(random() >> 11) * 0x1p-53;
    return range ? range->low + share * (range->high - range->low) : value;
  };
  ServingCost drawn = cost;
  drawn.first_step_seconds = between(cost.first_step_range, cost.first_step_seconds);
  drawn.prepare_seconds_per_16_tokens =
      between(cost.prepare_range, cost.prepare_seconds_per_16_tokens);
  return drawn;
}

}  // namespace kvroof
