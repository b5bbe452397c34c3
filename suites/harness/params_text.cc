// SPDX-License-Identifier: Apache-2.0
#include "suites/harness/params_text.h"

#include <algorithm>
#include <cstdint>

#include "suites/harness/table.h"

namespace kvroof {

std::vector<std::string> varying_params(std::span<const Json> all) {
  std::vector<std::string> names;
  if (all.front().contains("context_tokens")) names.emplace_back("context_tokens");
  for (const auto& [key, value] : all.front().items()) {
    const auto differs = [&wanted = key, &first = value](const Json& other) {
      return other.value(wanted, Json()) != first;
    };
    if (key == "context_tokens" || key == "data") continue;
    if (std::ranges::any_of(all, differs)) names.push_back(key);
  }
  return names;
}

std::string param_text(const std::string& name, const Json& value) {
  if (name == "context_tokens" && value.is_number()) return token_count(value.get<std::uint64_t>());
  return value.is_string() ? value.get<std::string>() : value.dump();
}

}  // namespace kvroof
