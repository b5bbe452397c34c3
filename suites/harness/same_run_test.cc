// SPDX-License-Identifier: Apache-2.0
#include "suites/harness/same_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "suites/harness/part_file.h"
#include "suites/harness/sample_record.h"

namespace kvroof {
namespace {

using testing::HasSubstr;

Json header() {
  Json json = part_json(sample_header());
  json["device"]["spec"] = "sim:small";
  json["device"]["virtual_time"] = true;
  return json;
}

// What is said where `path` of the part holds `value`.
std::string said(const std::string& path, const Json& value) {
  Json left = header();
  left[Json::json_pointer(path)] = value;
  return same_run(left, header(), "run.json.part").text;
}

TEST(SameRun, TimesAndArgvMayDiffer) {
  EXPECT_EQ(said("/started", "2000-01-01T00:00:00Z"), "");
  EXPECT_EQ(said("/argv", {"kvroof"}), "");
}

TEST(SameRun, NamesWhatDiffersAndBothValues) {
  EXPECT_EQ(
      said("/seed", 8),
      "cannot resume run.json.part: --seed is 8 there, and 7 here; give what it was run with, "
      "or leave out --resume to start anew");
  EXPECT_THAT(said("/tool/version", "9.9"), HasSubstr("kvroof's version is 9.9 there, and "));
  EXPECT_THAT(said("/tool/build/type", "?"), HasSubstr("kvroof's build/type is ? there"));
  EXPECT_THAT(said("/model/name", "big"), HasSubstr("model name is big there, and small here"));
  EXPECT_THAT(said("/model/layers", 3), HasSubstr("model layers is 3 there, and 2 here"));
  EXPECT_THAT(said("/model/hidden", 3), HasSubstr("model hidden is 3 there, and 64 here"));
  EXPECT_THAT(said("/device/spec", "host"),
              HasSubstr("--device is host there, and sim:small here"));
  EXPECT_THAT(said("/device/profile/name", "x"),
              HasSubstr("device profile/name is x there, and small here"));
  EXPECT_THAT(said("/part/draws", 3), HasSubstr("--draws is 3 there, and 200 here"));
  EXPECT_THAT(said("/part/suites", {"ttft", "other"}),
              HasSubstr("suites is ttft,other there, and ttft here"));
}

TEST(SameRun, NamesTheAxisOfTheGrid) {
  EXPECT_THAT(said("/part/grid/context_tokens", {1024, 2048}),
              HasSubstr("--context is 1024,2048 there, and 1024,10240,102400 here"));
  EXPECT_THAT(said("/part/grid/kv_dtype", {"fp8"}),
              HasSubstr("--kv-dtype is fp8 there, and bf16 here"));
  EXPECT_THAT(said("/part/grid/serving_cost", "vllm"),
              HasSubstr("--serving-cost is vllm there, and none here"));
  EXPECT_THAT(said("/part/grid/plan", {"copy", "recompute"}),
              HasSubstr("--plan is copy,recompute there, and recompute,copy here"));
}

TEST(SameRun, LongAxesAreShownWhereTheyDiffer) {
  Json there = header(), here = header();
  for (int i = 0; i < 20; ++i) there["part"]["grid"]["context_tokens"][i] = i + 1;
  here["part"]["grid"]["context_tokens"] = there["part"]["grid"]["context_tokens"];
  here["part"]["grid"]["context_tokens"][10] = 99;
  EXPECT_THAT(same_run(there, here, "f").text,
              HasSubstr("--context is ...,10,11,12,13,14,15,... there, and "
                        "...,10,99,12,13,14,15,... here"));
}

TEST(SameRun, AModelledRunMayGoOnOnAnotherMachine) {
  EXPECT_EQ(said("/system/cpu", "another"), "");
  EXPECT_THAT(said("/device/memory_bytes", 1), HasSubstr("device memory_bytes is 1 there"));
}

TEST(SameRun, AMeasuredOneMayNotButForFreeMemory) {
  Json there = header(), here = header();
  there["device"]["virtual_time"] = here["device"]["virtual_time"] = false;
  there["device"]["memory_bytes"] = 1;
  there["system"]["load_average_1min"] = 100;
  EXPECT_EQ(same_run(there, here, "f").text, "");
  there["system"]["cpu"] = "another";
  EXPECT_THAT(same_run(there, here, "f").text, HasSubstr("system cpu is another there"));
}

TEST(SameRun, AFinishedRecordHasNoPartToCompare) {
  Json record = header();
  record.erase("part");
  EXPECT_EQ(same_run(record, header(), "run.json").text, "");
}

TEST(SameRun, AHeaderThatLacksKeysIsRefused) {
  Json left = header();
  left.erase("tool");
  EXPECT_THAT(same_run(left, header(), "f").text, HasSubstr("its header is not whole"));
}

}  // namespace
}  // namespace kvroof
