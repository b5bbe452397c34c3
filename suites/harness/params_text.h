// SPDX-License-Identifier: Apache-2.0
// Params of cases and groups as columns of a table.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "suites/harness/json.h"

namespace kvroof {

// Names of the params that differ between `all`, which is not empty; the context, where they have
// one, always stands first, and `data`, which follows it, is left out.
std::vector<std::string> varying_params(std::span<const Json> all);

std::string param_text(const std::string& name, const Json& value);  // "10k" for context_tokens

}  // namespace kvroof
