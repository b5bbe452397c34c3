// SPDX-License-Identifier: Apache-2.0
#include "suites/ttft/kind.h"

#include <utility>

#include "suites/harness/crossover_answers.h"
#include "suites/ttft/ttft.h"
#include "suites/ttft/ttft_table.h"

namespace kvroof {
namespace {

std::unique_ptr<Suite> make(SuiteSetup setup) {
  return std::make_unique<TtftSuite>(std::move(setup));
}

}  // namespace

SuiteKind ttft_kind() {
  return {
      "ttft",   "Time to first token", "how long until the first token, by plan", make, crossovers,
      ttft_text};
}

}  // namespace kvroof
