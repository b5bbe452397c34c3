// SPDX-License-Identifier: Apache-2.0
// Why cases have no result, for the terminal: a line for all that differ in figures alone.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "suites/harness/json.h"

namespace kvroof {

struct Unrun {
  std::string outcome, plan, reason;
  Json params;  // of its group
};

// "skipped (copy, hybrid): why [4 cases: context 64k, 128k; batch 16]", the span of each of
// `names`, which are params. After `most` lines a sentence says how many more there are.
std::string reasons_text(std::span<const Unrun> all, std::span<const std::string> names,
                         std::size_t most);

}  // namespace kvroof
