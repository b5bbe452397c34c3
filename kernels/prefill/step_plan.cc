// SPDX-License-Identifier: Apache-2.0
#include "kernels/prefill/step_plan.h"

#include <algorithm>

namespace kvroof {

std::vector<Step> plan_steps(std::span<const PrefillRequest> requests, std::uint32_t step_tokens) {
  std::vector<Step> steps;
  std::uint32_t used = step_tokens;  // a full step: the first segment opens a new one
  for (std::uint32_t i = 0; i < requests.size(); ++i) {
    for (std::uint32_t done = 0; done < requests[i].tokens;) {
      if (used == step_tokens) {
        steps.emplace_back();
        used = 0;
      }
      const std::uint32_t tokens = std::min(requests[i].tokens - done, step_tokens - used);
      const bool last = done + tokens == requests[i].tokens;
      steps.back().push_back(
          {.request = i, .first = done, .tokens = tokens, .row = used, .last = last});
      used += tokens;
      done += tokens;
    }
  }
  return steps;
}

}  // namespace kvroof
