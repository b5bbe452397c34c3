// SPDX-License-Identifier: Apache-2.0
// Runs the groups that Google Benchmark selects, each case on disk before the next group starts.
#pragma once
#include <cstddef>
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

  // How many cases the benchmarks of these indices make.
  std::size_t count_cases(std::span<const std::size_t> selected) const;

  // Before any benchmark runs; both must outlive the runs.
  void start(RecordWriter& writer, Progress& progress);

  const std::vector<Case>& cases() const { return cases_; }
  std::vector<Answer> answers() const;
  const Status& status() const { return status_; }  // of writing the record

 private:
  GroupReport run(const SuiteKind& suite, const ComparisonGroup& group);

  Job& job_;
  SuitePool pool_;
  std::vector<BenchmarkGroup> benchmarks_;
  RecordWriter* writer_ = nullptr;
  Progress* progress_ = nullptr;
  std::vector<Case> cases_;
  Status status_;
};

}  // namespace kvroof
