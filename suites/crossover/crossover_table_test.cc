// SPDX-License-Identifier: Apache-2.0
#include "suites/crossover/crossover_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "suites/crossover/kind.h"
#include "suites/harness/grid.h"

namespace kvroof {
namespace {

using testing::HasSubstr;
using testing::Not;

// A copy case whose Pi is its context over 4096 tokens, and so is its speedup, within 10 %.
Case copy_case(std::uint64_t context, std::uint32_t batch) {
  Case one;
  one.suite = "crossover";
  one.params = case_params({.context_tokens = context, .batch = batch}, PlanKind::copy);
  const double pi = static_cast<double>(context) / 4096;
  Metric speedup = modelled_metric("ratio", pi);
  speedup.ci95 = Bounds{0.9 * pi, 1.1 * pi};
  one.metrics = {{"speedup", speedup},
                 {"flops_per_kv_byte", modelled_metric("FLOP/byte", 1000 * pi)},
                 {"machine_balance", modelled_metric("FLOP/byte", 1000)},
                 {"pi", modelled_metric("ratio", pi)}};
  return one;
}

std::string text_of(const std::vector<Case>& cases) {
  return crossover_text(cases, crossover_kind().answers(cases));
}

// A larger batch ends at 2048 tokens, where Pi is 0.5; 16384 tokens have 4.
TEST(CrossoverTable, TheClosedFormIsThatOfAllContextsWhateverTheOrder) {
  std::vector<Case> cases = {copy_case(1024, 16), copy_case(2048, 16), copy_case(1024, 1),
                             copy_case(2048, 1), copy_case(16384, 1)};
  const std::string row = "native  bf16         1000  250 to 4000  0.250 to 4.00  16k   16k  16k\n";
  EXPECT_THAT(text_of(cases), HasSubstr(row));
  EXPECT_THAT(text_of(cases), HasSubstr("From 1k\n  to 16k tokens:"));
  std::ranges::reverse(cases);
  EXPECT_THAT(text_of(cases), HasSubstr(row));
}

// The speedup is 1 at 4096 tokens within 0.9 to 1.1, and 2 at 8192 within 1.8 to 2.2.
TEST(CrossoverTable, SaysWhatTheIntervalDoesNotDecide) {
  const std::string text = text_of({copy_case(2048, 1), copy_case(4096, 1), copy_case(8192, 1)});
  EXPECT_THAT(text, HasSubstr("\n~4k    8k  ~8k\n"));
  EXPECT_THAT(text, HasSubstr("With ~ the 95 % interval does not decide it."));
}

// 1.25 and 1.75, within 1.125 to 1.375 and 1.575 to 1.925.
TEST(CrossoverTable, AllAndNoneAreWords) {
  const std::string text = text_of({copy_case(5120, 1), copy_case(7168, 1)});
  EXPECT_THAT(text, HasSubstr("\nall   all  none\n"));
  EXPECT_THAT(text, Not(HasSubstr("~")));
}

Answer drawn_answer() {
  Answer answer;
  answer.question = "crossover";
  answer.params = case_params({}, PlanKind::copy);
  answer.params.erase("context_tokens");
  answer.params["margin"] = 1.0;
  answer.verdict = Verdict::found;
  answer.context_tokens = 10240;
  answer.ci95 = Bounds{1024, 10240};
  return answer;
}

TEST(CrossoverTable, ShowsTheCrossoversOwnInterval) {
  const std::vector<Case> cases = {copy_case(1024, 1), copy_case(10240, 1)};
  const std::vector<Answer> answers = {drawn_answer()};
  EXPECT_THAT(crossover_text(cases, answers), HasSubstr("\n10k (1k-10k)     -   -\n"));
}

}  // namespace
}  // namespace kvroof
