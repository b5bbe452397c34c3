// SPDX-License-Identifier: Apache-2.0
#include "suites/harness/part_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "suites/harness/record_check.h"
#include "suites/harness/record_parse.h"
#include "suites/harness/sample_record.h"

namespace kvroof {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Doubles that only a shortest round trip brings back.
const std::vector<double> kDraws = {0.1, 1.0 / 3, 5e-324, -0.0, 1e308, 2};

Case drawn_case(std::uint64_t context) {
  Case one = sample_cases()[1];
  one.params["context_tokens"] = context;
  one.metrics[1].second.draws = kDraws;
  return one;
}

std::string line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

const std::string kHeader = line(part_json(sample_header()));

Part parsed(const std::string& text) {
  auto part = parse_part(text, "run.json.part");
  EXPECT_TRUE(part.ok()) << part.status().text;
  return part.ok() ? std::move(*part) : Part{};
}

std::string refused(const std::string& text) {
  const auto part = parse_part(text, "run.json.part");
  EXPECT_EQ(part.code(), Code::invalid);
  return part.status().text;
}

std::vector<std::uint64_t> contexts(const std::vector<PartCase>& cases) {
  std::vector<std::uint64_t> all;
  for (const PartCase& one : cases) all.push_back(one.one.params["context_tokens"]);
  return all;
}

TEST(ParseCase, BringsBackEverySample) {
  for (const Case& one : sample_cases()) {
    const auto back = parse_case(to_json(one));
    ASSERT_TRUE(back.ok()) << back.status().text;
    EXPECT_EQ(to_json(*back).dump(), to_json(one).dump());
  }
}

TEST(ParseCase, NamesWhatIsWrong) {
  Json json = to_json(sample_cases()[1]);
  json["outcome"] = "perhaps";
  EXPECT_THAT(parse_case(json).status().text, HasSubstr("'perhaps' is not known"));
  json.erase("outcome");
  EXPECT_THAT(parse_case(json).status().text, HasSubstr("outcome"));
  EXPECT_FALSE(parse_case(Json(3)).ok());
}

TEST(PartFile, BringsBackCasesAndTheirDraws) {
  const Case one = drawn_case(1024);
  const Part part = parsed(kHeader + line(part_json(one, {3, 2})));
  ASSERT_EQ(part.cases.size(), 1);
  EXPECT_EQ(part.cases[0].json.dump(), to_json(one).dump());
  EXPECT_EQ(part.cases[0].one.metrics[1].second.draws, kDraws);
  EXPECT_EQ(part.cases[0].place.group, 3);
  EXPECT_EQ(part.cases[0].place.cases, 2);
  EXPECT_FALSE(part.torn);
}

TEST(PartFile, TheRecordHasNoDraws) {
  EXPECT_FALSE(to_json(drawn_case(1024)).contains("part"));
  EXPECT_THAT(to_json(drawn_case(1024)).dump(), testing::Not(HasSubstr("draws")));
}

TEST(PartFile, ATornLastLineIsLeftOutWhereverItIsCut) {
  const std::string first = line(part_json(drawn_case(1), {0, 1}));
  const std::string second = line(part_json(drawn_case(2), {1, 1}));
  for (std::size_t bytes = 0; bytes < second.size(); ++bytes) {
    const Part part = parsed(kHeader + first + second.substr(0, bytes));
    EXPECT_THAT(contexts(part.cases), ElementsAre(1)) << bytes;
    EXPECT_EQ(part.torn, bytes > 0);
  }
  EXPECT_TRUE(parsed(kHeader + first + std::string(20, '\0') + "\n").torn);
}

TEST(PartFile, WithoutAWholeFirstLineThereIsNothing) {
  EXPECT_THAT(parsed("").header_line, IsEmpty());
  EXPECT_THAT(parsed(kHeader.substr(0, kHeader.size() - 1)).header_line, IsEmpty());
}

TEST(PartFile, RefusesWhatIsNoPart) {
  EXPECT_THAT(refused("precious\n"),
              AllOf(HasSubstr("run.json.part"), HasSubstr("first line is no header")));
  EXPECT_THAT(refused("[]\n"), HasSubstr("first line is no header"));
  EXPECT_THAT(refused("{\"schema_version\": 2}\n"), HasSubstr("schema_version 2, and 1"));
  EXPECT_THAT(refused("{\"schema_version\": 1}\n"), HasSubstr("could not resume"));
  const std::string good = line(part_json(drawn_case(1), {0, 1}));
  EXPECT_THAT(refused(kHeader + "{}\n" + good),
              AllOf(HasSubstr("line 2"), HasSubstr("remove that line")));
  Case bad = drawn_case(1);
  bad.metrics[0].second.ci95 = Bounds{0.3, 0.3};
  EXPECT_THAT(refused(kHeader + line(part_json(bad, {0, 1})) + good), HasSubstr("wider than zero"));
}

TEST(PartFile, WrongKeysAreToldWithoutTheLibrarysNamesOfErrors) {
  const std::string good = line(part_json(drawn_case(1), {0, 1}));
  Json json = part_json(drawn_case(1), {0, 1});
  json["part"]["group"] = 0.9;
  EXPECT_THAT(refused(kHeader + line(json) + good),
              HasSubstr("line 2 is no case of a run: 0.9 is no whole number; remove"));
  json.erase("part");
  EXPECT_THAT(refused(kHeader + line(json) + good),
              HasSubstr("line 2 is no case of a run: key 'part' not found; remove"));
}

TEST(PartFile, IncompleteAndDoubledGroupsAreDropped) {
  std::string text = kHeader;
  const auto add = [&](std::uint64_t context, Place place) {
    text += line(part_json(drawn_case(context), place));
  };
  add(10, {0, 2});
  add(11, {0, 2});  // group 0 is whole
  add(20, {1, 2});  // group 1 lacks a case
  add(30, {2, 1});
  add(30, {2, 1});  // group 2 has one twice
  add(40, {3, 2});
  add(40, {3, 2});  // so has group 3, in place of another
  add(50, {4, 1});  // group 4 is whole
  Part part = parsed(text);
  EXPECT_EQ(drop_incomplete(part), 5u);
  EXPECT_THAT(contexts(part.cases), ElementsAre(10, 11, 50));
}

TEST(CheckCase, RefusesDrawsThatNoFileCanHold) {
  Case one = drawn_case(1);
  one.metrics[1].second.draws[0] = std::numeric_limits<double>::infinity();
  EXPECT_THAT(check_case(one).text, HasSubstr("every draw must be finite"));
}

}  // namespace
}  // namespace kvroof
