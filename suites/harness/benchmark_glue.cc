// SPDX-License-Identifier: Apache-2.0
#include "suites/harness/benchmark_glue.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "suites/harness/benchmark_flags.h"
#include "suites/harness/grid_values.h"

namespace kvroof {
namespace {

namespace fs = std::filesystem;

Status invalid(std::string text) { return {Code::invalid, std::move(text)}; }

// Keeps the terminal for kvroof's own table; --benchmark_out has a reporter of its own.
class QuietReporter : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>&) override {}
};

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // it is still what the flag means
// The library's reporter aborts where a group has a counter that the first one lacks, as a skipped
// one does: each group gets all of them, NaN where it has none.
class EvenCsvReporter : public benchmark::CSVReporter {
 public:
  explicit EvenCsvReporter(const std::vector<std::string>& counters) : counters_(counters) {}

  void ReportRuns(const std::vector<Run>& runs) override {
    std::vector<Run> even = runs;
    for (Run& run : even) {
      benchmark::UserCounters all;
      for (const std::string& name : counters_) {
        const auto own = run.counters.find(name);
        all[name] = own == run.counters.end() ? benchmark::Counter(NAN) : own->second;
      }
      run.counters = std::move(all);
    }
    CSVReporter::ReportRuns(even);
  }

 private:
  const std::vector<std::string>& counters_;
};
#pragma GCC diagnostic pop

// Tells whether all of --benchmark_out was written, which the library does not look at.
template <class Reporter>
class CheckedReporter : public Reporter {
 public:
  template <class... Arguments>
  explicit CheckedReporter(bool& written, Arguments&&... arguments)
      : Reporter(std::forward<Arguments>(arguments)...), written_(written) {}

  void Finalize() override {
    Reporter::Finalize();
    written_ = this->GetOutputStream().flush().good();
  }

 private:
  bool& written_;
};

bool is_true(const std::string& value) {
  return value == "true" || value == "1" || value == "yes" || value == "on" || value == "t" ||
         value == "y";
}

// The library would end the process after the run's first line; a file that was there stays as it
// is.
Status check_output(const fs::path& file) {
  std::error_code error;
  const bool existed = fs::exists(file, error);
  const bool opened = std::ofstream(file, std::ios::app).is_open();
  if (!existed && opened) fs::remove(file, error);
  if (opened) return {};
  return invalid(fmt::format("--benchmark_out: {} cannot be written", file.string()));
}

void run_group(benchmark::State& state, const BenchmarkGroup& group) {
  for (auto iteration : state) {
    static_cast<void>(iteration);
    const GroupReport report = group.run();
    state.SetIterationTime(report.seconds);
    for (const auto& [name, value] : report.counters) state.counters[name] = value;
    if (!report.label.empty()) state.SetLabel(report.label);
    if (report.error.empty()) continue;
    state.SkipWithError(report.error.c_str());
    break;
  }
}

// Registered for as long as it lives, in the order given.
class Registration {
 public:
  explicit Registration(std::span<const BenchmarkGroup> groups) {
    benchmark::ClearRegisteredBenchmarks();
    for (const BenchmarkGroup& group : groups) {
      const auto body = [&group](benchmark::State& state) { run_group(state, group); };
      benchmark::RegisterBenchmark(group.name.c_str(), body)->Iterations(1)->UseManualTime();
    }
  }
  ~Registration() { benchmark::ClearRegisteredBenchmarks(); }
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;
};

// The library appends "/iterations:1/manual_time" to a group's name.
bool is_listed_as(const BenchmarkGroup& group, const std::string& line) {
  return line == group.name || line.starts_with(group.name + "/iterations:");
}

}  // namespace

Result<BenchmarkArguments> BenchmarkArguments::parse(std::span<const std::string> arguments) {
  BenchmarkArguments parsed;
  for (const std::string& argument : arguments) {
    const auto flag = parse_benchmark_flag(argument);
    if (!flag.ok()) return flag.status();
    if (flag->name == "benchmark_filter") {
      parsed.filter_ = flag->value;
    } else if (flag->name == "benchmark_list_tests") {
      parsed.list_only_ = is_true(flag->value);
    } else if (flag->name == "benchmark_context") {
      for (const std::string_view pair : split(flag->value, ',')) {
        const auto parts = split(pair, '=');
        parsed.context_.emplace_back(parts[0], parts[1]);
      }
    } else {
      parsed.passed_on_.push_back("--" + flag->name + "=" + flag->value);
    }
    if (flag->name == "benchmark_counters_tabular") parsed.tabular_ = is_true(flag->value);
    if (flag->name == "benchmark_format") parsed.own_table_ = false;
    if (flag->name == "benchmark_format") parsed.csv_ = flag->value == "csv";
    if (flag->name == "benchmark_out_format") parsed.output_format_ = flag->value;
    if (flag->name != "benchmark_out") continue;
    if (Status status = check_output(flag->value); !status.ok()) return status;
    parsed.output_ = flag->value;
  }
  return parsed;
}

void BenchmarkArguments::add_context(const std::string& key, const std::string& value) {
  const auto same = [&](const auto& pair) { return pair.first == key; };
  if (std::ranges::none_of(context_, same)) context_.emplace_back(key, value);
}

// Sets every flag that the library would otherwise take from its environment variables and that
// changes what runs, or remember from an earlier call. The texts live on: the library keeps a
// pointer to the first.
void BenchmarkArguments::initialise(bool list) const {
  static std::vector<std::string> texts;
  texts = {"kvroof",
           "--benchmark_out=",
           "--benchmark_repetitions=1",
           "--benchmark_min_warmup_time=0",
           "--benchmark_enable_random_interleaving=false",
           "--benchmark_filter=" + filter_,
           fmt::format("--benchmark_list_tests={}", list)};
  if (!list) texts.insert(texts.end(), passed_on_.begin(), passed_on_.end());
  std::vector<char*> argv;
  for (std::string& text : texts) argv.push_back(text.data());
  int argc = static_cast<int>(argv.size());
  benchmark::SetDefaultTimeUnit(benchmark::kMillisecond);
  benchmark::Initialize(&argc, argv.data());
}

Result<std::vector<std::size_t>> BenchmarkArguments::select(
    std::span<const BenchmarkGroup> groups) const {
  const Registration registration(groups);
  initialise(true);
  std::ostringstream names, errors;
  QuietReporter reporter;
  reporter.SetOutputStream(&names);
  reporter.SetErrorStream(&errors);
  benchmark::RunSpecifiedBenchmarks(&reporter);
  if (errors.str().starts_with("Could not compile")) {
    return invalid("--benchmark_filter: " + in_quotes(filter_) + " is no regular expression");
  }
  std::vector<std::size_t> selected;
  std::istringstream lines(names.str());
  std::size_t next = 0;
  for (std::string line; std::getline(lines, line);) {
    while (next < groups.size() && !is_listed_as(groups[next], line)) ++next;
    if (next < groups.size()) selected.push_back(next++);
  }
  if (!selected.empty()) return selected;
  return invalid(
      fmt::format("--benchmark_filter: {} matches none of the {} groups; "
                  "--benchmark_list_tests shows their names",
                  in_quotes(filter_), groups.size()));
}

std::unique_ptr<benchmark::BenchmarkReporter> BenchmarkArguments::make_output(bool& written) const {
  if (output_.empty() || list_only_) return nullptr;
  if (output_format_ == "csv") {
    return std::make_unique<CheckedReporter<EvenCsvReporter>>(written, counters_);
  }
  if (output_format_ == "console") {
    return std::make_unique<CheckedReporter<benchmark::ConsoleReporter>>(
        written,
        tabular_ ? benchmark::ConsoleReporter::OO_Tabular : benchmark::ConsoleReporter::OO_None);
  }
  return std::make_unique<CheckedReporter<benchmark::JSONReporter>>(written);
}

Status BenchmarkArguments::run(std::span<const BenchmarkGroup> groups) const {
  if (const auto selected = select(groups); !selected.ok()) return selected.status();
  const Registration registration(groups);
  initialise(list_only_);
  for (const auto& [key, value] : context_) benchmark::AddCustomContext(key, value);
  QuietReporter quiet;
  EvenCsvReporter csv(counters_);
  benchmark::BenchmarkReporter* shown = csv_ ? &csv : nullptr;
  if (own_table_ || list_only_) shown = &quiet;
  bool written = true;
  const auto output = make_output(written);
  benchmark::RunSpecifiedBenchmarks(shown, output.get());
  if (written) return {};
  return {Code::failed, fmt::format("--benchmark_out: {} cannot be written in full", output_)};
}

}  // namespace kvroof
