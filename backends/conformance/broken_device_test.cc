// SPDX-License-Identifier: Apache-2.0
// The suite can fail: each planted fault is caught by the check of the sentence that it breaks, and
// the same wrapper without a fault passes them all.
#include "backends/conformance/broken_device.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "backends/conformance/suite.h"
#include "backends/registry/registry.h"

namespace kvroof::conformance {

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Conformance);  // the checks alone are used here

namespace {

struct Planted {
  Fault fault;
  std::string_view caught_by;
};

constexpr Planted kPlanted[] = {
    {Fault::drops_fences, "a_fence_orders_two_lanes"},
    {Fault::drops_fences, "every_fence_counts"},
    {Fault::drops_fences, "fences_name_the_past"},
    {Fault::drops_fences, "a_failure_aborts_those_fenced_on_it"},
    {Fault::reaps_twice, "reap_is_in_order_and_once"},
    {Fault::reaps_in_reverse, "reap_is_in_order_and_once"},
    {Fault::completes_early, "a_hold_waits_for_its_gate"},
    {Fault::completes_early, "a_lane_is_in_order"},
    {Fault::hides_failures, "a_failure_aborts_those_fenced_on_it"},
    {Fault::forgets_reaped, "fences_name_the_past"},
    {Fault::reads_early, "the_source_is_read_when_it_runs"},
    {Fault::drops_last_region, "many_regions_by_dma"},
    {Fault::waits_for_the_last, "wait_returns_the_lowest"},
    {Fault::refuses_in_silence, "spans_stay_inside_their_buffers"},
    {Fault::has_no_end_of_memory, "no_memory_leaves_nothing"},
};

std::vector<Check> all_checks() {
  std::vector<Check> all;
  for (const auto group : {rule_checks(), hold_checks(), byte_checks()}) {
    all.insert(all.end(), group.begin(), group.end());
  }
  return all;
}

std::optional<std::string> problem_with(Fault fault, const Check& check) {
  const auto device = make_broken(fault, std::move(*open_device(*parse_device("host"))));
  return problem_of(*device, check);
}

TEST(BrokenDevice, EveryFaultIsCaughtByTheCheckOfItsSentence) {
  const auto all = all_checks();
  for (const auto& [fault, name] : kPlanted) {
    const auto check = std::find_if(
        all.begin(), all.end(), [&, wanted = name](const Check& c) { return c.name == wanted; });
    ASSERT_NE(check, all.end()) << "there is no check " << name;
    EXPECT_TRUE(problem_with(fault, *check).has_value())
        << name << " passes a device with fault " << static_cast<int>(fault);
  }
}

TEST(BrokenDevice, WithoutAFaultTheWrapperPasses) {
  for (const Check& check : all_checks()) {
    const auto problem = problem_with(Fault::none, check);
    EXPECT_FALSE(problem.has_value()) << check.name << ": " << *problem;
  }
}

}  // namespace
}  // namespace kvroof::conformance
