// SPDX-License-Identifier: Apache-2.0
#include "suites/crossover/crossover_suite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "suites/crossover/kind.h"
#include "suites/serving/test_rig.h"

namespace kvroof {
namespace {

std::vector<Case> run(Device& device, std::vector<std::uint64_t> contexts,
                      std::vector<PlanKind> plans) {
  SuiteSetup setup{device, small_model(), {}, 1, {}, {}, {}};
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

// The made-up device: 100 TFLOP/s and a link of 50 GB/s, so 2000 FLOP a byte.
TEST(CrossoverSuite, ThePeaksAloneGiveTheClosedForm) {
  const auto device = open_simulator();
  const auto cases = run(*device, {1024}, {PlanKind::recompute, PlanKind::copy});
  ASSERT_EQ(cases.size(), 2u);
  ASSERT_EQ(cases[1].outcome, Outcome::ok) << cases[1].reason;
  EXPECT_EQ(cases[1].suite, "crossover");
  EXPECT_EQ(cases[1].params.at("data"), "off");
  const ModelShape shape = small_model();
  const double flops = prefill_flops(shape, 0, 1024) + head_flops(shape);
  const auto bytes = static_cast<double>(kv_bytes(shape, DType::bf16, 1024));
  const auto of = [&](const char* name) { return *find_metric(cases[1], name)->median; };
  const Peaks& peaks = device->info().peaks;
  EXPECT_DOUBLE_EQ(of("flops_per_kv_byte"), flops / bytes);
  EXPECT_DOUBLE_EQ(of("machine_balance"), peaks.flops_bf16 / peaks.link_in);
  EXPECT_DOUBLE_EQ(of("pi"), (flops / peaks.flops_bf16) / (bytes / peaks.link_in));
  EXPECT_EQ(find_metric(cases[0], "pi"), nullptr);
}

TEST(CrossoverSuite, OneArmAloneHasNoClosedForm) {
  const auto device = open_simulator();
  const auto cases = run(*device, {1024}, {PlanKind::copy});
  ASSERT_EQ(cases.size(), 1u);
  EXPECT_EQ(cases[0].outcome, Outcome::ok);
  EXPECT_EQ(find_metric(cases[0], "pi"), nullptr);
}

TEST(CrossoverSuite, AnswersBothWaysForEveryMargin) {
  const auto device = open_simulator();
  const auto cases = run(*device, {512, 1024}, {PlanKind::recompute, PlanKind::copy});
  const auto answers = crossover_kind().answers(cases);
  ASSERT_EQ(answers.size(), 6u);
  EXPECT_EQ(answers[0].question, "crossover");
  EXPECT_EQ(answers[3].question, "crossover_closed_form");
  for (int i : {3, 4, 5}) {
    const double pi = *find_metric(cases[1], "pi")->median;
    const double margin = answers[i].params.at("margin").get<double>();
    EXPECT_EQ(answers[i].verdict == Verdict::below_smallest, pi >= margin);
  }
}

}  // namespace
}  // namespace kvroof
