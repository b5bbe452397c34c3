// SPDX-License-Identifier: Apache-2.0
#include "suites/crossover/crossover_suite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "suites/crossover/kind.h"
#include "suites/serving/test_rig.h"

namespace kvroof {
namespace {

std::vector<Case> run(Device& device, const std::vector<std::uint64_t>& contexts,
                      const std::vector<PlanKind>& plans) {
  SuiteSetup setup{.device = device, .shape = small_model()};
  for (const std::uint64_t context : contexts) {
    GridPoint point;
    point.context_tokens = context;
    setup.groups.push_back({point, plans});
  }
  const std::vector<ComparisonGroup> groups = setup.groups;
  const auto suite = crossover_kind().make(std::move(setup));
  std::vector<Case> all;
  for (const ComparisonGroup& group : groups) {
    for (Case& one : suite->run(group)) all.push_back(std::move(one));
  }
  return all;
}

// The made-up device's 100 TFLOP/s, and a link of 100 GB/s: 1000 FLOP a byte.
std::unique_ptr<Device> open_with_fast_link() {
  DeviceSpec spec;
  spec.adapter = "sim";
  spec.profile_text = sim::test_profile();
  spec.options["link"] = "100GB/s";
  return std::move(*sim::open(spec));
}

// small_model multiplies a token by 30,720 weights in each of its 2 layers (64x64 for q and o,
// 64x32 for k and v, three of 64x96): 122,880 FLOP, and 512 more for each token that it sees (2
// layers, 4 heads, 16 + 16 wide, times 2). The head adds 2 x 64 x 97 = 12,416 once. A token's KV is
// 256 bytes (2 layers, K and V, 2 heads of 16, 2 bytes).
//    512 tokens:  62,914,560 + 131,328 x 512 + 12,416 = 130,166,912 FLOP over 131,072 bytes
//   1024 tokens: 125,829,120 + 524,800 x 512 + 12,416 = 394,539,136 FLOP over 262,144 bytes
constexpr double kFlopsPerByteAt512 = 993.0947265625, kFlopsPerByteAt1024 = 1505.04736328125;

TEST(CrossoverSuite, ThePeaksAloneGiveTheClosedForm) {
  const auto device = open_with_fast_link();
  const auto cases = run(*device, {512, 1024}, {PlanKind::recompute, PlanKind::copy});
  ASSERT_EQ(cases.size(), 4u);
  ASSERT_EQ(cases[3].outcome, Outcome::ok) << cases[3].reason;
  EXPECT_EQ(cases[3].suite, "crossover");
  EXPECT_EQ(cases[3].params.at("data"), "off");
  const auto of = [&](int i, const char* name) { return *find_metric(cases[i], name)->median; };
  EXPECT_DOUBLE_EQ(of(1, "flops_per_kv_byte"), kFlopsPerByteAt512);
  EXPECT_DOUBLE_EQ(of(3, "flops_per_kv_byte"), kFlopsPerByteAt1024);
  EXPECT_DOUBLE_EQ(of(3, "machine_balance"), 1000);
  EXPECT_DOUBLE_EQ(of(1, "pi"), kFlopsPerByteAt512 / 1000);
  EXPECT_DOUBLE_EQ(of(3, "pi"), kFlopsPerByteAt1024 / 1000);
  EXPECT_EQ(find_metric(cases[0], "pi"), nullptr);
}

TEST(CrossoverSuite, OneArmAloneHasNoClosedForm) {
  const auto device = open_simulator();
  const auto cases = run(*device, {1024}, {PlanKind::copy});
  ASSERT_EQ(cases.size(), 1u);
  EXPECT_EQ(cases[0].outcome, Outcome::ok);
  EXPECT_EQ(find_metric(cases[0], "pi"), nullptr);
}

// By the roofs Pi is 0.993 at 512 tokens and 1.505 at 1024.
TEST(CrossoverSuite, AnswersBothWaysForEveryMargin) {
  const auto device = open_with_fast_link();
  const auto cases = run(*device, {512, 1024}, {PlanKind::recompute, PlanKind::copy});
  const auto answers = crossover_kind().answers(cases);
  ASSERT_EQ(answers.size(), 6u);
  constexpr double kMargin[] = {1, 1.1, 2};
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(answers[i].question, i < 3 ? "crossover" : "crossover_closed_form");
    EXPECT_EQ(answers[i].params.at("margin"), kMargin[i % 3]);
  }
  for (int i : {3, 4}) {
    EXPECT_EQ(answers[i].verdict, Verdict::found);
    EXPECT_EQ(answers[i].context_tokens, 1024);
  }
  EXPECT_EQ(answers[5].verdict, Verdict::none_in_range);
}

}  // namespace
}  // namespace kvroof
