// SPDX-License-Identifier: Apache-2.0
// Runs the groups that Google Benchmark selects, each case on disk before the next group starts.
#pragma once
#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "suites/command/job.h"
#include "suites/command/suite_pool.h"
#include "suites/harness/benchmark_glue.h"
#include "suites/harness/progress.h"
#include "suites/harness/record_writer.h"

namespace kvroof {

class Runner {
 public:
  explicit Runner(Job& job);

  // Every suite's groups, suite by suite, in the grid's order. They run on this Runner.
  const std::vector<BenchmarkGroup>& benchmarks() const { return benchmarks_; }

  const SuiteKind& suite_of(std::size_t index) const;
  const ComparisonGroup& group_of(std::size_t index) const;

  // Takes over the groups of an interrupted run: their benchmarks report what is recorded and run
  // nothing. `invalid`, naming `file`, where one is none of this run's.
  Status take_over(const std::map<std::size_t, std::vector<Case>>& resumed,
                   const std::string& file);

  // How many cases the benchmarks of these indices will make, beside what was taken over.
  std::size_t count_cases(std::span<const std::size_t> selected) const;

  // Before any benchmark runs; both must outlive the runs.
  void start(RecordWriter& writer, Progress& progress);

  std::vector<Case> cases() const;  // all so far, suite by suite, in the grid's order
  std::vector<Answer> answers() const;
  const Status& status() const { return status_; }  // of writing the record

 private:
  GroupReport run(std::size_t index);
  void warn(const std::vector<Case>& cases);  // on stderr, of their tiers, nothing twice

  Job& job_;
  SuitePool pool_;
  std::vector<BenchmarkGroup> benchmarks_;
  RecordWriter* writer_ = nullptr;
  Progress* progress_ = nullptr;
  std::map<std::size_t, std::vector<Case>> done_;  // by the benchmark's index
  Status status_;
  std::set<std::string> warned_;
};

}  // namespace kvroof
