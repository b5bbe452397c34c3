// SPDX-License-Identifier: Apache-2.0
#include "suites/command/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "suites/command/group_report.h"
#include "suites/harness/table.h"

namespace kvroof {
namespace {

std::string short_name(const SuiteKind& suite, const GridPoint& point) {
  return fmt::format("{} context {} batch {}", suite.name, token_count(point.context_tokens),
                     point.batch);
}

}  // namespace

Runner::Runner(Job& job) : job_(job), pool_(job) {
  for (const SuiteKind* suite : job.suites) {
    for (const ComparisonGroup& group : job.groups) {
      benchmarks_.push_back({group_name(suite->name, job.shape.name, group.point),
                             [this, suite, &group] { return run(*suite, group); }});
    }
  }
}

std::size_t Runner::count_cases(std::span<const std::size_t> selected) const {
  std::size_t total = 0;
  for (const std::size_t i : selected) total += job_.groups[i % job_.groups.size()].plans.size();
  return total;
}

void Runner::start(RecordWriter& writer, Progress& progress) {
  writer_ = &writer;
  progress_ = &progress;
}

GroupReport Runner::run(const SuiteKind& suite, const ComparisonGroup& group) {
  if (!status_.ok()) return {0, {}, "skipped: the record can't be written"};
  progress_->begin(short_name(suite, group.point));
  std::vector<Case> made = pool_.get(suite, group.point.link).run(group);
  for (const Case& one : made) {
    if (status_.ok()) status_ = writer_->add(one);
  }
  progress_->end(status_.ok() ? outcomes(made) : "not written", made.size());
  GroupReport report = group_report(made);
  std::ranges::move(made, std::back_inserter(cases_));
  return report;
}

std::vector<Answer> Runner::answers() const {
  std::vector<Answer> all;
  for (const SuiteKind* suite : job_.suites) {
    std::vector<Case> own;
    std::ranges::copy_if(cases_, std::back_inserter(own),
                         [&](const Case& one) { return one.suite == suite->name; });
    std::ranges::move(suite->answers(own), std::back_inserter(all));
  }
  return all;
}

}  // namespace kvroof
