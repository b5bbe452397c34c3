// SPDX-License-Identifier: Apache-2.0
#include "suites/command/quantization_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <string_view>

namespace kvroof {

std::string quantization_text(const ModelShape& shape, std::span<const DType> computed) {
  if (shape.quantization.empty() || computed.empty()) return {};
  std::set<std::string_view> names;
  for (const DType dtype : computed) names.insert(name(dtype));
  return fmt::format(
      "Weights and activations are {} here; the config's quantization_config ({}) is not applied.",
      fmt::join(names, " or "), shape.quantization);
}

}  // namespace kvroof
