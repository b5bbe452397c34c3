// SPDX-License-Identifier: Apache-2.0
#include "suites/harness/benchmark_glue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "suites/harness/json.h"

namespace kvroof {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using Words = std::vector<std::string>;

class BenchmarkGlueTest : public testing::Test {
 protected:
  BenchmarkGlueTest() {
    for (const std::string name : {"ttft/m/context:1024/batch:1", "ttft/m/context:10240/batch:1",
                                   "ttft/m/context:10240/batch:8"}) {
      groups_.push_back(
          {name, [this, name] {
             log_.push_back(name);
             return GroupReport{0.25, {{"copy_s", 0.05}, {"speedup", 4}}, label_, error_};
           }});
    }
    std::string name = (fs::temp_directory_path() / "kvroof-glue-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~BenchmarkGlueTest() override { fs::remove_all(folder_); }

  BenchmarkArguments parsed(const Words& words) {
    const auto arguments = BenchmarkArguments::parse(words);
    EXPECT_TRUE(arguments.ok()) << arguments.status().text;
    return arguments.ok() ? *arguments : BenchmarkArguments{};
  }
  std::vector<std::size_t> selected(const std::string& filter) {
    const auto result = parsed({"--benchmark_filter=" + filter}).select(groups_);
    EXPECT_TRUE(result.ok()) << result.status().text;
    return result.ok() ? *result : std::vector<std::size_t>{};
  }
  // What `words` print to stdout, the groups run with them.
  std::string printed(const Words& words) {
    testing::internal::CaptureStdout();
    BenchmarkArguments arguments = parsed(words);
    arguments.set_counters({"copy_s", "speedup"});
    for (const auto& [key, value] : context_) arguments.add_context(key, value);
    const Status status = arguments.run(groups_);
    EXPECT_TRUE(status.ok()) << status.text;
    return testing::internal::GetCapturedStdout();
  }
  Json written(const Words& words) {
    const fs::path out = folder_ / "out.json";
    Words all = words;
    all.push_back("--benchmark_out=" + out.string());
    EXPECT_EQ(printed(all), "");
    std::ifstream stream(out);
    return Json::parse(stream, nullptr, false);
  }

  std::vector<BenchmarkGroup> groups_;
  Words log_;
  std::string label_, error_;
  std::vector<std::pair<std::string, std::string>> context_;  // the library keeps the first it sees
  fs::path folder_;
};

TEST_F(BenchmarkGlueTest, RunsEveryGroupOnceInOrderAndSaysNothing) {
  EXPECT_EQ(printed({}), "");
  EXPECT_THAT(log_, ElementsAre(groups_[0].name, groups_[1].name, groups_[2].name));
}

TEST_F(BenchmarkGlueTest, TheFilterSelectsGroups) {
  EXPECT_THAT(selected("context:10240"), ElementsAre(1, 2));
  EXPECT_THAT(selected("-context:10240"), ElementsAre(0));
  EXPECT_THAT(selected("batch:(1|8)/"), ElementsAre(0, 1, 2));
  EXPECT_THAT(selected("all"), ElementsAre(0, 1, 2));
  EXPECT_THAT(selected(""), ElementsAre(0, 1, 2));
  EXPECT_EQ(printed({"--benchmark_filter=batch:8"}), "");
  EXPECT_THAT(log_, ElementsAre(groups_[2].name));
}

TEST_F(BenchmarkGlueTest, AFilterThatMatchesNothingOrIsBrokenIsAnError) {
  const Status none = parsed({"--benchmark_filter=batch:9"}).run(groups_);
  EXPECT_EQ(none.code, Code::invalid);
  EXPECT_THAT(none.text, AllOf(HasSubstr("'batch:9' matches none of the 3 groups")));
  EXPECT_THAT(parsed({"--benchmark_filter=("}).run(groups_).text,
              HasSubstr("'(' is no regular expression"));
  EXPECT_TRUE(log_.empty());
}

TEST_F(BenchmarkGlueTest, ListingPrintsNamesAndRunsNothing) {
  const Words words = {"--benchmark_list_tests", "--benchmark_filter=batch:1",
                       "--benchmark_out=" + (folder_ / "out").string()};
  EXPECT_TRUE(parsed(words).list_only());
  EXPECT_EQ(printed(words),
            "ttft/m/context:1024/batch:1/iterations:1/manual_time\n"
            "ttft/m/context:10240/batch:1/iterations:1/manual_time\n");
  EXPECT_TRUE(log_.empty());
  EXPECT_FALSE(fs::exists(folder_ / "out"));
  EXPECT_FALSE(parsed({"--benchmark_list_tests=false"}).list_only());
}

TEST_F(BenchmarkGlueTest, TheOutputFileHasTimesAndCounters) {
  label_ = "published";
  context_ = {{"device", "sim:small"}, {"machine", "not the user's"}};
  const Json all = written({"--benchmark_filter=batch:8", "--benchmark_context=machine=mine"});
  ASSERT_EQ(all["benchmarks"].size(), 1);
  EXPECT_EQ(all["context"]["machine"], "mine");
  EXPECT_EQ(all["context"]["device"], "sim:small");
  const Json& one = all["benchmarks"][0];
  EXPECT_EQ(one["iterations"], 1);
  EXPECT_EQ(one["time_unit"], "ms");
  EXPECT_DOUBLE_EQ(one["real_time"].get<double>(), 250);
  EXPECT_DOUBLE_EQ(one["speedup"].get<double>(), 4);
  EXPECT_DOUBLE_EQ(one["copy_s"].get<double>(), 0.05);
  EXPECT_EQ(one["label"], "published");
}

TEST_F(BenchmarkGlueTest, AFailedGroupSaysSoAndTheOthersGoOn) {
  error_ = "failed: the copy failed";
  const Json all = written({});
  ASSERT_EQ(all["benchmarks"].size(), 3);
  EXPECT_EQ(all["benchmarks"][0]["error_message"], error_);
  EXPECT_EQ(log_.size(), 3);
}

TEST_F(BenchmarkGlueTest, AFormatTakesTheTerminal) {
  const Words words = {"--benchmark_format=csv"};
  EXPECT_FALSE(parsed(words).own_table());
  EXPECT_TRUE(parsed({}).own_table());
  EXPECT_THAT(printed(words), HasSubstr("name,iterations,real_time"));
}

TEST_F(BenchmarkGlueTest, CsvHasTheSameColumnsWhateverAGroupLacks) {
  error_ = "skipped: all of the first";
  auto later = groups_.back();
  later.run = [] { return GroupReport{0.5, {{"speedup", 2}}, {}, {}}; };
  groups_.push_back(later);
  const fs::path out = folder_ / "out.csv";
  const std::string text = printed(
      {"--benchmark_format=csv", "--benchmark_out=" + out.string(), "--benchmark_out_format=csv"});
  EXPECT_THAT(text, HasSubstr("error_message,\"copy_s\",\"speedup\""));
  EXPECT_THAT(text, HasSubstr(",nan,2\n"));
  std::ifstream stream(out);
  EXPECT_TRUE(std::string(std::istreambuf_iterator<char>(stream), {}).ends_with(text));
}

TEST_F(BenchmarkGlueTest, TheEnvironmentDoesNotChangeWhatRuns) {
  ::setenv("BENCHMARK_REPETITIONS", "3", 1);
  ::setenv("BENCHMARK_FILTER", "batch:8", 1);
  printed({});
  ::unsetenv("BENCHMARK_REPETITIONS");
  ::unsetenv("BENCHMARK_FILTER");
  EXPECT_EQ(log_.size(), 3);
}

TEST_F(BenchmarkGlueTest, AnOutputThatIsCutShortIsAnErrorOnceAllHasRun) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "there is no /dev/full";
  for (const std::string format : {"json", "csv", "console"}) {
    log_.clear();
    const Status status =
        parsed({"--benchmark_out=/dev/full", "--benchmark_out_format=" + format}).run(groups_);
    EXPECT_EQ(status.code, Code::failed) << format;
    EXPECT_THAT(status.text, HasSubstr("/dev/full cannot be written in full"));
    EXPECT_EQ(log_.size(), 3u);
  }
}

TEST_F(BenchmarkGlueTest, WrongFlagsAreASentence) {
  const auto said = [](const std::string& word) {
    const auto arguments = BenchmarkArguments::parse(Words{word});
    EXPECT_EQ(arguments.code(), Code::invalid) << word;
    return arguments.status().text;
  };
  EXPECT_THAT(said("--benchmark_fliter=x"),
              HasSubstr("'--benchmark_fliter=x' after -- is no flag"));
  EXPECT_THAT(said("context"), HasSubstr("'context' after -- is no flag"));
  EXPECT_THAT(said(""), HasSubstr("'' after -- is no flag"));
  EXPECT_THAT(said("--"), HasSubstr("'--' after -- is no flag"));
  EXPECT_THAT(said("--benchmark_filter"), HasSubstr("needs a value"));
  EXPECT_THAT(said("--benchmark_format=xml"), HasSubstr("'xml' is none of console|json|csv"));
  EXPECT_THAT(said("--benchmark_list_tests=perhaps"), HasSubstr("'perhaps'"));
  EXPECT_THAT(said("--benchmark_time_unit=h"), HasSubstr("'h'"));
  EXPECT_THAT(said("--benchmark_context=x"), HasSubstr("key=value"));
  EXPECT_THAT(said("--benchmark_repetitions=3"), HasSubstr("kvroof warms, repeats"));
  EXPECT_THAT(said("--benchmark_min_time=1"), HasSubstr("leave it out"));
  EXPECT_THAT(said("--benchmark_out=/no/such/dir/x"),
              HasSubstr("/no/such/dir/x cannot be written"));
}

}  // namespace
}  // namespace kvroof
