// SPDX-License-Identifier: Apache-2.0
// Going on with an interrupted run's FILE.part, wherever the run ended.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <set>

#include "suites/harness/record_reader.h"
#include "suites/harness/record_writer.h"
#include "suites/harness/sample_record.h"
#include "suites/harness/test_folder.h"

namespace kvroof {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::size_t kGroups = 3, kArms = 2;

Case arm_of(std::size_t group, std::size_t arm) {
  Case one = sample_cases()[arm];
  one.params["context_tokens"] = 1024 * (group + 1);
  return one;
}

// Adds what `writer` has not kept, in an order that is not the groups'.
Status add_missing(RecordWriter& writer) {
  for (const std::size_t group : {2, 0, 1}) {
    if (writer.resumed().contains(group)) continue;
    for (std::size_t arm = 0; arm < kArms; ++arm) {
      if (Status e = writer.add(arm_of(group, arm), {group, kArms}); !e.ok()) return e;
    }
  }
  return {};
}

Status run_to_end(const fs::path& file) {
  auto writer = RecordWriter::resume(file, sample_header());
  if (!writer.ok()) return writer.status();
  if (Status e = add_missing(*writer); !e.ok()) return e;
  return writer->finish(sample_answers(), "2026-01-08T09:31:00Z");
}

class RecordResumeTest : public testing::Test {
 protected:
  RecordResumeTest() : file_(folder_ / "run.json"), part_(folder_ / "run.json.part") {
    EXPECT_TRUE(run_to_end(file_).ok());
    finished_ = contents(file_);
    fs::remove(file_);
    auto writer = RecordWriter::open(file_, sample_header());
    EXPECT_TRUE(add_missing(*writer).ok());
    whole_part_ = contents(part_);
  }

  void leave(const std::string& text) { std::ofstream(part_, std::ios::binary) << text; }

  RecordWriter resumed() {
    auto writer = RecordWriter::resume(file_, sample_header());
    EXPECT_TRUE(writer.ok()) << writer.status().text;
    return std::move(*writer);
  }

  // The offset behind the n-th line.
  std::size_t behind(int lines) {
    std::size_t at = 0;
    while (lines-- > 0) at = whole_part_.find('\n', at) + 1;
    return at;
  }

  TestFolder folder_;
  fs::path file_, part_;
  std::string finished_, whole_part_;
};

TEST_F(RecordResumeTest, NothingToResumeStartsAnew) {
  fs::remove(part_);
  EXPECT_THAT(resumed().notice(),
              AllOf(HasSubstr("nothing to resume"), HasSubstr("run.json.part")));
  leave(whole_part_.substr(0, 100));
  EXPECT_THAT(resumed().notice(), HasSubstr("started anew"));
  EXPECT_THAT(folder_.names(), ElementsAre("run.json.part"));
  EXPECT_EQ(contents(part_), whole_part_.substr(0, behind(1)));
}

TEST_F(RecordResumeTest, WholeGroupsAreKeptAndNothingIsRewritten) {
  leave(whole_part_.substr(0, behind(3)));
  const auto before = fs::last_write_time(part_);
  const RecordWriter writer = resumed();
  EXPECT_EQ(writer.resumed().size(), 1);
  EXPECT_EQ(writer.resumed().at(2).size(), kArms);
  EXPECT_EQ(fs::last_write_time(part_), before);
  EXPECT_THAT(writer.notice(), HasSubstr("2 cases are kept"));
}

TEST_F(RecordResumeTest, AnIncompleteGroupAndATornLineGo) {
  leave(whole_part_.substr(0, behind(4) + 10));
  EXPECT_THAT(resumed().notice(), HasSubstr("1 of an incomplete group"));
  EXPECT_EQ(contents(part_), whole_part_.substr(0, behind(3)));
  EXPECT_THAT(folder_.names(), ElementsAre("run.json.part"));
}

// Also a group in the middle, whose line somebody took out to run it again.
TEST_F(RecordResumeTest, AnyMissingLineRunsItsGroupAgain) {
  leave(whole_part_.substr(0, behind(1)) + whole_part_.substr(behind(2)));
  EXPECT_THAT(resumed().resumed(), testing::SizeIs(2));
  EXPECT_TRUE(run_to_end(file_).ok());
  EXPECT_EQ(contents(file_), finished_);
}

TEST_F(RecordResumeTest, WhereverTheRunEndedTheRecordIsTheSame) {
  std::set<std::size_t> ends;
  for (std::size_t at = 0; at < whole_part_.size(); at += 97) ends.insert(at);
  for (int line = 0; line <= 7; ++line) {
    ends.insert({behind(line), behind(line) + 1, behind(line) - (line > 0)});
  }
  for (const std::size_t end : ends) {
    leave(whole_part_.substr(0, end));
    const Status status = run_to_end(file_);
    ASSERT_TRUE(status.ok()) << status.text;
    EXPECT_EQ(contents(file_), finished_) << end;
    EXPECT_THAT(folder_.names(), ElementsAre("run.json"));
    fs::remove(file_);
  }
}

TEST_F(RecordResumeTest, ALeftoverTemporaryFileIsNoObstacle) {
  leave(whole_part_.substr(0, behind(4)));
  std::ofstream(folder_ / "run.json.part.tmp") << "half";
  EXPECT_TRUE(run_to_end(file_).ok());
  EXPECT_EQ(contents(file_), finished_);
  EXPECT_THAT(folder_.names(), ElementsAre("run.json"));
}

TEST_F(RecordResumeTest, AnotherRunIsRefusedAndLeftAlone) {
  RunHeader other = sample_header();
  other.seed = 99;
  const auto writer = RecordWriter::resume(file_, other);
  EXPECT_EQ(writer.code(), Code::invalid);
  EXPECT_THAT(writer.status().text, AllOf(HasSubstr("run.json.part"), HasSubstr("--seed is 7")));
  EXPECT_EQ(contents(part_), whole_part_);
}

TEST_F(RecordResumeTest, ARunningOneIsRefusedAlsoAfterItsPartWasRewritten) {
  leave(whole_part_.substr(0, behind(4)));
  const RecordWriter writer = resumed();
  for (const auto enter : {RecordWriter::resume, RecordWriter::open}) {
    EXPECT_THAT(enter(file_, sample_header()).status().text, HasSubstr("another run is writing"));
  }
}

TEST_F(RecordResumeTest, AFinishedFileIsToldFromAnInterruptedOne) {
  EXPECT_FALSE(RecordWriter::is_finished(file_));
  EXPECT_TRUE(run_to_end(file_).ok());
  EXPECT_TRUE(RecordWriter::is_finished(file_));
  leave(whole_part_);
  EXPECT_FALSE(RecordWriter::is_finished(file_));
}

// Runs the rest in a child and kills it at its n-th stop at a system call; false once it ended
// before that, or where this machine lets nobody trace.
bool killed_at(const fs::path& file, int n, bool& traced) {
  const pid_t child = ::fork();
  if (child == 0) {
    const bool stopped = ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0;
    ::raise(SIGSTOP);
    ::_exit(stopped && run_to_end(file).ok() ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, WUNTRACED);
  traced = ::ptrace(PTRACE_SYSCALL, child, nullptr, nullptr) == 0;
  for (int i = 0; traced && i < n; ++i) {
    ::waitpid(child, &status, 0);
    if (WIFEXITED(status)) {
      EXPECT_EQ(WEXITSTATUS(status), 0);
      return false;
    }
    if (i + 1 < n) ::ptrace(PTRACE_SYSCALL, child, nullptr, nullptr);
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, &status, 0);
  return traced;
}

// From a part that has to be rewritten to the finished record: before and behind every system call.
TEST_F(RecordResumeTest, AKillAtAnySystemCallOfAResumeLosesNothingThatWasWhole) {
  const std::string left = whole_part_.substr(0, behind(4) + 10);
  const std::string kept = whole_part_.substr(0, behind(3));
  bool killed = true, traced = true;
  int n = 1;
  for (; killed && traced; ++n) {
    leave(left);
    fs::remove(file_);
    killed = killed_at(file_, n, traced);
    if (killed && fs::exists(part_)) {
      EXPECT_TRUE(contents(part_).starts_with(kept)) << n;
    } else if (traced) {
      EXPECT_EQ(contents(file_), finished_) << n;
    }
    if (!fs::exists(part_)) continue;
    ASSERT_TRUE(run_to_end(file_).ok()) << n;
    EXPECT_EQ(contents(file_), finished_) << n;
    EXPECT_THAT(folder_.names(), ElementsAre("run.json")) << n;
  }
  if (!traced) GTEST_SKIP() << "this machine lets nobody trace a process";
  EXPECT_GT(n, 40);
}

}  // namespace
}  // namespace kvroof
