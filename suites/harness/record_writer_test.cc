// SPDX-License-Identifier: Apache-2.0
#include "suites/harness/record_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "suites/harness/record_reader.h"
#include "suites/harness/sample_record.h"

namespace kvroof {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

std::string contents(const fs::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::vector<Json> lines(const fs::path& file) {
  std::vector<Json> all;
  std::istringstream stream(contents(file));
  for (std::string line; std::getline(stream, line);) all.push_back(Json::parse(line));
  return all;
}

// No file may grow past `bytes` while this lives: what a full disk does to a writer, with EFBIG.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    ::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() { ::setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

class RecordWriterTest : public testing::Test {
 protected:
  RecordWriterTest() {
    std::string name = (fs::temp_directory_path() / "kvroof-record-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    file_ = folder_ / "run.json";
    part_ = folder_ / "run.json.part";
  }
  ~RecordWriterTest() override { fs::remove_all(folder_); }

  RecordWriter opened() {
    auto writer = RecordWriter::open(file_, sample_header());
    EXPECT_TRUE(writer.ok()) << writer.status().text;
    return std::move(*writer);
  }
  std::string refused(const fs::path& file) {
    const auto writer = RecordWriter::open(file, sample_header());
    EXPECT_EQ(writer.code(), Code::invalid);
    return writer.status().text;
  }
  std::vector<std::string> names() {
    std::vector<std::string> all;
    for (const auto& entry : fs::directory_iterator(folder_))
      all.push_back(entry.path().filename());
    std::sort(all.begin(), all.end());
    return all;
  }

  fs::path folder_, file_, part_;
};

TEST_F(RecordWriterTest, EachLineIsThereBeforeTheNextCase) {
  RecordWriter writer = opened();
  ASSERT_EQ(lines(part_).size(), 1);
  EXPECT_EQ(lines(part_)[0]["schema_version"], 1);
  EXPECT_EQ(lines(part_)[0]["complete"], false);
  std::size_t done = 1;
  for (const Case& one : sample_cases()) {
    ASSERT_TRUE(writer.add(one).ok());
    ASSERT_EQ(lines(part_).size(), ++done);
    EXPECT_EQ(lines(part_).back(), part_json(one, {}));
  }
  EXPECT_THAT(names(), ElementsAre("run.json.part"));
}

TEST_F(RecordWriterTest, TheEndIsAWholeRecordAndNoPart) {
  RecordWriter writer = opened();
  for (const Case& one : sample_cases()) ASSERT_TRUE(writer.add(one).ok());
  ASSERT_TRUE(writer.finish(sample_answers(), "2026-01-08T09:31:00Z").ok());
  EXPECT_THAT(names(), ElementsAre("run.json"));
  const auto record = read_record(file_);
  ASSERT_TRUE(record.ok()) << record.status().text;
  EXPECT_EQ((*record)["complete"], true);
  EXPECT_EQ((*record)["finished"], "2026-01-08T09:31:00Z");
  EXPECT_EQ((*record)["seed"], 7);
  EXPECT_EQ((*record)["cases"].size(), sample_cases().size());
  EXPECT_EQ((*record)["cases"][1], to_json(sample_cases()[1]));
  EXPECT_EQ((*record)["answers"].size(), 4);
}

TEST_F(RecordWriterTest, AnExistingFileStaysUntilTheEnd) {
  std::ofstream(file_) << "precious";
  {
    RecordWriter writer = opened();
    ASSERT_TRUE(writer.add(sample_cases()[0]).ok());
    EXPECT_EQ(contents(file_), "precious");
  }
  EXPECT_EQ(contents(file_), "precious");
}

TEST_F(RecordWriterTest, ALinkStaysALink) {
  const fs::path target = folder_ / "target.json";
  std::ofstream(target) << "old";
  fs::create_symlink(target, file_);
  RecordWriter writer = opened();
  ASSERT_TRUE(writer.finish({}, "2026-01-08T09:31:00Z").ok());
  EXPECT_TRUE(fs::is_symlink(file_));
  EXPECT_TRUE(read_record(target).ok());
}

TEST_F(RecordWriterTest, RefusesPathsBeforeAnyCaseRuns) {
  EXPECT_THAT(refused(folder_), AllOf(HasSubstr(folder_.string()), HasSubstr("is a directory")));
  EXPECT_THAT(refused(folder_ / "no" / "run.json"),
              AllOf(HasSubstr("no/run.json"), HasSubstr("does not exist")));
  EXPECT_THAT(refused("/dev/null"), HasSubstr("no regular file"));
  EXPECT_THAT(refused(""), HasSubstr("the name of a file is expected"));
  EXPECT_THAT(refused("/proc/run.json"), StartsWith("cannot write /proc/run.json.part: "));
  std::ofstream(folder_ / "plain") << "a file";
  EXPECT_THAT(refused(folder_ / "plain" / "run.json"), HasSubstr("plain/run.json"));
  EXPECT_THAT(names(), ElementsAre("plain"));
}

TEST_F(RecordWriterTest, AFullDiskIsFoundBeforeAnyCaseRuns) {
  fs::create_symlink("/dev/full", part_);
  EXPECT_EQ(refused(file_), "cannot write " + part_.string() + ": No space left on device");
  EXPECT_THAT(names(), ElementsAre());
}

TEST_F(RecordWriterTest, ALineThatDoesNotFitLeavesTheOnesBefore) {
  RecordWriter writer = opened();
  ASSERT_TRUE(writer.add(sample_cases()[0]).ok());
  const std::string before = contents(part_);
  {
    const FileSizeLimit limit(before.size() + 50);
    const Status status = writer.add(sample_cases()[1]);
    EXPECT_EQ(status.text, "cannot write " + part_.string() + ": File too large");
  }
  EXPECT_EQ(contents(part_), before);
  EXPECT_TRUE(writer.add(sample_cases()[1]).ok());
  EXPECT_EQ(lines(part_).size(), 3);
}

TEST_F(RecordWriterTest, AnEndThatDoesNotFitLosesNothing) {
  std::ofstream(file_) << "precious";
  RecordWriter writer = opened();
  for (const Case& one : sample_cases()) ASSERT_TRUE(writer.add(one).ok());
  {
    const FileSizeLimit limit(100);
    const Status status = writer.finish({}, "2026-01-08T09:31:00Z");
    EXPECT_EQ(status.text, "cannot write " + file_.string() + ": File too large");
  }
  EXPECT_EQ(contents(file_), "precious");
  EXPECT_THAT(names(), ElementsAre("run.json", "run.json.part"));
  EXPECT_EQ(lines(part_).size(), 1 + sample_cases().size());
  EXPECT_TRUE(writer.finish({}, "2026-01-08T09:31:00Z").ok());
  EXPECT_THAT(names(), ElementsAre("run.json"));
}

TEST_F(RecordWriterTest, AnInterruptedRunLeavesAGoodPartThatTheNextKeeps) {
  const pid_t child = ::fork();
  if (child == 0) {
    RecordWriter writer = opened();
    const bool added = writer.add(sample_cases()[0]).ok() && writer.add(sample_cases()[1]).ok();
    ::signal(SIGINT, SIG_DFL);  // a job in a shell's background ignores it
    ::raise(added ? SIGINT : SIGKILL);
    ::_exit(1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
  EXPECT_EQ(lines(part_).size(), 3);
  const std::string left = contents(part_);

  RecordWriter writer = opened();
  EXPECT_THAT(writer.notice(), HasSubstr("run.json.part.1"));
  EXPECT_EQ(contents(folder_ / "run.json.part.1"), left);
  EXPECT_EQ(lines(part_).size(), 1);
  EXPECT_TRUE(writer.finish({}, "2026-01-08T09:31:00Z").ok());
  EXPECT_THAT(names(), ElementsAre("run.json", "run.json.part.1"));
}

TEST_F(RecordWriterTest, NoInterruptedRunIsEverReplaced) {
  std::ofstream(part_) << "second\n";
  std::ofstream(folder_ / "run.json.part.1") << "first\n";
  EXPECT_THAT(opened().notice(), HasSubstr("run.json.part.2"));
  EXPECT_EQ(contents(folder_ / "run.json.part.1"), "first\n");
  EXPECT_EQ(contents(folder_ / "run.json.part.2"), "second\n");
}

TEST_F(RecordWriterTest, TwoRunsCannotWriteOneFile) {
  RecordWriter writer = opened();
  EXPECT_THAT(refused(file_), AllOf(HasSubstr("another run"), HasSubstr("run.json.part")));
  EXPECT_TRUE(writer.add(sample_cases()[0]).ok());
  EXPECT_EQ(lines(part_).size(), 2);
}

TEST_F(RecordWriterTest, RefusesACaseThatBreaksTheRules) {
  RecordWriter writer = opened();
  Case one = sample_cases()[0];
  one.metrics[0].second.ci95 = Bounds{0.3, 0.3};
  EXPECT_THAT(writer.add(one).text, HasSubstr("wider than zero"));
  EXPECT_EQ(lines(part_).size(), 1);
}

TEST_F(RecordWriterTest, TheReaderSaysWhatIsWrongWithAFile) {
  const auto said = [&](const std::string& text) {
    std::ofstream(file_, std::ios::trunc) << text;
    return read_record(file_).status().text;
  };
  EXPECT_EQ(said(R"({"schema_version": 2, "cases": []})"),
            file_.string() +
                ": has schema_version 2, and 1 is expected: read it with the kvroof "
                "that wrote it");
  EXPECT_THAT(said(R"({"schema_version": "1", "cases": []})"), HasSubstr("schema_version \"1\""));
  EXPECT_EQ(said("{"), file_.string() + ": is not JSON");
  EXPECT_THAT(said("[]"), HasSubstr("no schema_version"));
  EXPECT_THAT(said("{}"), HasSubstr("no schema_version"));
  EXPECT_THAT(said(R"({"schema_version": 1})"), HasSubstr("no list of cases"));
  EXPECT_EQ(said(R"({"schema_version": 1, "cases": []})"), "");
  EXPECT_THAT(read_record(folder_ / "none").status().text, HasSubstr("none: no such file"));
  EXPECT_THAT(read_record(folder_).status().text, HasSubstr("no such file"));
}

}  // namespace
}  // namespace kvroof
