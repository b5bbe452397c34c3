// SPDX-License-Identifier: Apache-2.0
#include "suites/harness/record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "suites/harness/record_check.h"
#include "suites/harness/sample_record.h"

namespace kvroof {
namespace {

using testing::HasSubstr;

const std::vector<double> kFive = {30, 10, 50, 20, 40};  // median 30, interval [10, 50]

std::string complaint(const std::function<void(Case&)>& spoil) {
  Case one = sample_cases()[1];
  EXPECT_TRUE(check_case(one).ok()) << check_case(one).text;
  spoil(one);
  return check_case(one).text;
}

TEST(Metric, MeasuredHasMedianIntervalAndSamples) {
  EXPECT_EQ(to_json(measured_metric("s", kFive, true)), Json::parse(R"({"unit": "s", "median": 30.0,
            "ci95": [10.0, 50.0], "samples": [30.0, 10.0, 50.0, 20.0, 40.0],
            "samples_enough": true})"));
}

TEST(Metric, OneSampleIsNeverEnough) {
  EXPECT_EQ(
      to_json(measured_metric("s", {3}, true)),
      Json::parse(R"({"unit": "s", "median": 3.0, "samples": [3.0], "samples_enough": false})"));
}

TEST(Metric, ModelledAndCountsHaveNoInterval) {
  EXPECT_EQ(to_json(modelled_metric("s", 2.5)).dump(), R"({"unit":"s","median":2.5})");
  EXPECT_EQ(to_json(count_metric("bytes", 1ull << 60)).dump(),
            R"({"unit":"bytes","value":1152921504606846976})");
}

TEST(Metric, ARatioHasTheIntervalOfBothSides) {
  const Metric steady = measured_metric("s", {2, 2, 2, 2, 2}, false);
  const Metric ratio = ratio_metric(measured_metric("s", kFive, true), steady);
  EXPECT_EQ(*ratio.median, 15);
  EXPECT_EQ(ratio.ci95->low, 5);
  EXPECT_EQ(ratio.ci95->high, 25);
  EXPECT_FALSE(*ratio.samples_enough);
  EXPECT_FALSE(ratio_metric(modelled_metric("s", 4), modelled_metric("s", 2)).ci95);
  EXPECT_EQ(*ratio_metric(modelled_metric("s", 4), modelled_metric("s", 2)).median, 2);
}

TEST(Metric, ScalingScalesAllOfIt) {
  const Metric twice = scaled_metric(measured_metric("s", kFive, true), 2, "s");
  EXPECT_EQ(*twice.median, 60);
  EXPECT_EQ(twice.ci95->low, 20);
  EXPECT_EQ(twice.ci95->high, 100);
  EXPECT_EQ(twice.samples[0], 60);
}

TEST(CheckCase, AcceptsEverySample) {
  for (const Case& one : sample_cases()) EXPECT_EQ(check_case(one).text, "");
  for (const Answer& one : sample_answers()) EXPECT_EQ(check_answer(one).text, "");
}

TEST(CheckCase, RefusesIntervalsWithoutWidthOrBesideTheMedian) {
  EXPECT_THAT(complaint([](Case& one) {
                one.metrics[0].second.ci95 = Bounds{0.1, 0.1};
              }),
              HasSubstr("ttft: ci95 must be wider than zero"));
  EXPECT_THAT(complaint([](Case& one) {
                one.metrics[0].second.ci95 = Bounds{0.2, 0.1};
              }),
              HasSubstr("wider than zero"));
  EXPECT_THAT(complaint([](Case& one) {
                one.metrics[0].second.ci95 = Bounds{0.2, 0.3};
              }),
              HasSubstr("around the median"));
  EXPECT_THAT(complaint([](Case& one) {
                one.metrics[0].second.ci95 = Bounds{0, INFINITY};
              }),
              HasSubstr("not finite"));
}

TEST(CheckCase, RefusesFiguresThatAreNone) {
  EXPECT_THAT(complaint([](Case& one) { one.metrics[0].second.median = NAN; }),
              HasSubstr("finite median"));
  EXPECT_THAT(complaint([](Case& one) { one.metrics[0].second.samples[2] = INFINITY; }),
              HasSubstr("every sample"));
  EXPECT_THAT(complaint([](Case& one) { one.metrics[4].second.median = 1; }),
              HasSubstr("bytes_loaded: a count has its value alone"));
  EXPECT_THAT(complaint([](Case& one) { one.metrics[0].second.samples_enough.reset(); }),
              HasSubstr("samples_enough"));
}

TEST(CheckCase, RefusesWordsOutsideTheClosedLists) {
  EXPECT_THAT(complaint([](Case& one) { one.metrics[0].second.unit = "ms"; }), HasSubstr("'ms'"));
  EXPECT_THAT(complaint([](Case& one) { one.metrics[0].first = "TTFT"; }), HasSubstr("'TTFT'"));
  EXPECT_THAT(complaint([](Case& one) { one.metrics[1].first = "ttft"; }), HasSubstr("twice"));
  EXPECT_THAT(complaint([](Case& one) { one.params["colour"] = 1; }), HasSubstr("'colour'"));
  EXPECT_THAT(complaint([](Case& one) { one.params["margin"] = 1; }), HasSubstr("'margin'"));
  EXPECT_THAT(complaint([](Case& one) { one.params["plan"] = Json::array(); }),
              HasSubstr("'plan'"));
  EXPECT_THAT(complaint([](Case& one) { one.suite = ""; }), HasSubstr("suite"));
}

TEST(CheckCase, WantsAReasonExactlyWhereTheCaseIsNotOk) {
  EXPECT_EQ(complaint([](Case& one) { one.reason = "because"; }),
            "a case that is ok must not have a reason");
  EXPECT_EQ(complaint([](Case& one) { one.outcome = Outcome::failed; }),
            "a case that is failed must have a reason");
}

TEST(CheckAnswer, TiesTheContextToTheVerdict) {
  Answer answer = sample_answers()[0];
  answer.verdict = Verdict::none_in_range;
  EXPECT_THAT(check_answer(answer).text, HasSubstr("context_tokens"));
  answer.context_tokens.reset();
  EXPECT_THAT(check_answer(answer).text, HasSubstr("ci95"));
  answer.ci95.reset();
  EXPECT_TRUE(check_answer(answer).ok());
}

}  // namespace
}  // namespace kvroof
