// SPDX-License-Identifier: Apache-2.0
#include "suites/command/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "suites/command/group_report.h"
#include "suites/command/recorded_group.h"
#include "suites/harness/grid_axes.h"
#include "suites/harness/params_text.h"

namespace kvroof {
namespace {

// "crossover context 1k live 8": the context, and what else differs between the grid's groups.
std::string short_name(const SuiteKind& suite, const Grid& grid, const GridPoint& point) {
  std::string text(suite.name);
  for (const Axis& axis : grid_axes()) {
    if (!axis.value || (axis.param != "context_tokens" && axis.count(grid) == 1)) continue;
    const std::string param(axis.param);
    text += " " + param_title(param) + " " + param_text(param, axis.value(point));
  }
  return text;
}

}  // namespace

Runner::Runner(Job& job) : job_(job), pool_(job) {
  for (std::size_t i = 0; i < job.suites.size() * job.groups.size(); ++i) {
    benchmarks_.push_back({group_name(suite_of(i).name, job.shape.name, group_of(i).point),
                           [this, i] { return run(i); }});
  }
}

const SuiteKind& Runner::suite_of(std::size_t index) const {
  return *job_.suites[index / job_.groups.size()];
}

const ComparisonGroup& Runner::group_of(std::size_t index) const {
  return job_.groups[index % job_.groups.size()];
}

Status Runner::take_over(const std::map<std::size_t, std::vector<Case>>& resumed,
                         const std::string& file) {
  const std::uint32_t draws = job_.device->info().virtual_time ? job_.draws : 0;
  for (const auto& [index, cases] : resumed) {
    const std::string odd = index < benchmarks_.size()
                                ? what_is_odd(suite_of(index).name, group_of(index), draws, cases)
                                : fmt::format("is none of this run's {}", benchmarks_.size());
    if (odd.empty()) continue;
    return {Code::invalid,
            fmt::format("cannot resume {}: its group {} {}; remove the lines of that group to run "
                        "it again, or leave out --resume to start anew",
                        file, index, odd)};
  }
  done_ = resumed;
  return {};
}

std::size_t Runner::count_cases(std::span<const std::size_t> selected) const {
  std::size_t total = 0;
  for (const std::size_t i : selected) total += done_.contains(i) ? 0 : group_of(i).plans.size();
  return total;
}

void Runner::start(RecordWriter& writer, Progress& progress) {
  writer_ = &writer;
  progress_ = &progress;
}

GroupReport Runner::run(std::size_t index) {
  if (done_.contains(index)) return group_report(done_.at(index));
  if (!status_.ok()) return {0, {}, {}, "skipped: the record can't be written"};
  const SuiteKind& suite = suite_of(index);
  const ComparisonGroup& group = group_of(index);
  progress_->begin(short_name(suite, job_.grid, group.point));
  std::vector<Case>& made = done_[index];
  made = pool_.get(suite, group.point.link).run(group);
  for (const Case& one : made) {
    if (status_.ok()) status_ = writer_->add(one, {index, made.size()});
  }
  warn(made);
  progress_->end(status_.ok() ? outcomes(made) : "not written", made.size());
  return group_report(made);
}

void Runner::warn(const std::vector<Case>& cases) {
  for (const Case& one : cases) {
    if (one.tier.is_null() || !one.tier.contains("warnings")) continue;
    for (const Json& warning : one.tier["warnings"]) {
      if (!warned_.insert(warning.get<std::string>()).second) continue;
      progress_->clear();
      fmt::print(stderr, "kvroof: warning: {}\n", warning.get<std::string>());
    }
  }
}

std::vector<Case> Runner::cases() const {
  std::vector<Case> all;
  for (const auto& [index, cases] : done_) all.insert(all.end(), cases.begin(), cases.end());
  return all;
}

std::vector<Answer> Runner::answers() const {
  std::vector<Answer> all;
  for (const SuiteKind* suite : job_.suites) {
    std::vector<Case> own;
    for (const auto& [index, cases] : done_) {
      if (&suite_of(index) == suite) own.insert(own.end(), cases.begin(), cases.end());
    }
    std::ranges::move(suite->answers(own), std::back_inserter(all));
  }
  return all;
}

}  // namespace kvroof
