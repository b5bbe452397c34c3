// SPDX-License-Identifier: Apache-2.0
// Fair shares against numbers derived by hand.
#include "backends/sim/machine/flow.h"

#include <gtest/gtest.h>

#include <vector>

namespace kvroof::sim {
namespace {

Flow flow(double cap, std::initializer_list<std::pair<Resource, double>> use) {
  Flow flow{.work = 1, .cap = cap};
  for (const auto& [resource, amount] : use) of(flow.use, resource) = amount;
  return flow;
}

std::vector<double> rates(const std::vector<Flow>& flows, const Amounts& capacity) {
  std::vector<const Flow*> pointers;
  for (const Flow& each : flows) pointers.push_back(&each);
  std::vector<double> rates(flows.size());
  share(pointers, capacity, rates);
  return rates;
}

Amounts machine() {
  Amounts capacity{};
  of(capacity, Resource::compute) = 1;
  of(capacity, Resource::hbm) = 1000;
  of(capacity, Resource::link_in) = 60;
  of(capacity, Resource::link_out) = 60;
  of(capacity, Resource::link_total) = 90;
  return capacity;
}

const std::initializer_list<std::pair<Resource, double>> kIn = {{Resource::link_in, 1},
                                                                {Resource::link_total, 1}};
const std::initializer_list<std::pair<Resource, double>> kOut = {{Resource::link_out, 1},
                                                                 {Resource::link_total, 1}};

void expect_near(const std::vector<double>& actual, const std::vector<double>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) EXPECT_NEAR(actual[i], expected[i], 1e-9);
}

TEST(Share, OneFlowRunsAtItsCap) { expect_near(rates({flow(50, kIn)}, machine()), {50}); }

TEST(Share, OneFlowIsHeldByItsResource) { expect_near(rates({flow(80, kIn)}, machine()), {60}); }

TEST(Share, ThreeFlowsOfOneDirectionGetEqualParts) {
  expect_near(rates({flow(50, kIn), flow(50, kIn), flow(50, kIn)}, machine()), {20, 20, 20});
}

// The slow flow keeps its 10; the other two halve the 50 that are left.
TEST(Share, WhatASlowFlowLeavesGoesToTheOthers) {
  expect_near(rates({flow(10, kIn), flow(50, kIn), flow(50, kIn)}, machine()), {10, 25, 25});
}

// All rise to 30, where two flows in fill their direction; with the flow out that is 90 in all, so
// that nothing is left for it to rise.
TEST(Share, DirectionsShareTheTotal) {
  expect_near(rates({flow(50, kIn), flow(50, kIn), flow(50, kOut)}, machine()), {30, 30, 30});
  expect_near(rates({flow(50, kIn), flow(50, kOut)}, machine()), {45, 45});
}

// Three in fill their direction at 20 each; the flow out goes on until the total is used: 90 - 60.
TEST(Share, AFlowRisesPastThoseThatAnotherResourceHolds) {
  expect_near(rates({flow(50, kIn), flow(50, kIn), flow(50, kIn), flow(50, kOut)}, machine()),
              {20, 20, 20, 30});
}

// A kernel copies 50 at a tenth of the compute units, beside an op that wants them all. Dominant
// shares: the copy's is 50/60 at full speed, the op's 1. Both rise to 50/60, where the copy is done
// rising; the op takes the nine tenths that are left.
TEST(Share, ACopyingKernelTakesItsComputeFromAnOp) {
  const Flow copy = flow(50, {{Resource::link_in, 1}, {Resource::compute, 0.1 / 50}});
  const Flow op = flow(1, {{Resource::compute, 1}});
  expect_near(rates({copy, op}, machine()), {50, 0.9});
}

// Work that uses nothing is as fast as it can be, whoever else runs.
TEST(Share, UsingNothingCostsNothing) {
  expect_near(rates({flow(7, {}), flow(80, kIn), flow(80, kIn)}, machine()), {7, 30, 30});
}

// No rate can rise without taking from a slower one, and no capacity is exceeded.
TEST(Share, NothingIsOverUsed) {
  std::vector<Flow> flows;
  for (int i = 1; i <= 40; ++i) flows.push_back(flow(i, i % 3 == 0 ? kOut : kIn));
  const auto result = rates(flows, machine());
  double in = 0, out = 0;
  for (std::size_t i = 0; i < flows.size(); ++i) {
    EXPECT_LE(result[i], flows[i].cap + 1e-9);
    (flows[i].use[static_cast<std::size_t>(Resource::link_in)] > 0 ? in : out) += result[i];
  }
  EXPECT_LE(in, 60 + 1e-9);
  EXPECT_LE(out, 60 + 1e-9);
  EXPECT_NEAR(in + out, 90, 1e-9);
}

}  // namespace
}  // namespace kvroof::sim
