// SPDX-License-Identifier: Apache-2.0
#include "suites/crossover/kind.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "suites/crossover/crossover_suite.h"
#include "suites/crossover/crossover_table.h"
#include "suites/harness/crossover_answers.h"

namespace kvroof {
namespace {

std::unique_ptr<Suite> make(SuiteSetup setup) {
  return std::make_unique<CrossoverSuite>(std::move(setup));
}

// The simulated or measured answer, and beside it what the two roofs alone say.
std::vector<Answer> answers(std::span<const Case> cases) {
  std::vector<Answer> all = crossovers(cases);
  std::ranges::move(crossovers(cases, "crossover_closed_form", "pi"), std::back_inserter(all));
  return all;
}

}  // namespace

SuiteKind crossover_kind() {
  return {"crossover", "Crossover", "from which context copying is faster",
          make,        answers,     crossover_text};
}

}  // namespace kvroof
