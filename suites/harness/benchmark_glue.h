// SPDX-License-Identifier: Apache-2.0
// Comparison groups as Google Benchmarks: one registered benchmark, one iteration, a group. What
// follows `--` on kvroof's command line comes here.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backends/api/status.h"

namespace benchmark {
class BenchmarkReporter;
}

namespace kvroof {

// What a group tells Google Benchmark. `seconds` is its manual time: the sum of the arms' medians.
struct GroupReport {
  double seconds = 0;
  std::vector<std::pair<std::string, double>> counters;  // recompute_s, copy_s, speedup
  std::string label;                                     // stands beside the figures
  std::string error;  // non-empty: shown in place of the figures; the other groups still run
};

struct BenchmarkGroup {
  std::string name;
  std::function<GroupReport()> run;  // must not throw
};

// The library's state is global: one thread at a time may call select() and run() of any object.
class BenchmarkArguments {
 public:
  // `invalid` names the flag: unknown, of a wrong value, an output that cannot be written, or one
  // that would change the sampling, which is kvroof's own.
  static Result<BenchmarkArguments> parse(std::span<const std::string> arguments);

  bool list_only() const { return list_only_; }  // --benchmark_list_tests
  bool own_table() const { return own_table_; }  // false: --benchmark_format takes the terminal
  const std::string& output() const { return output_; }  // --benchmark_out; empty: none

  // What the output says of the whole run; a --benchmark_context of the same key stays.
  void add_context(const std::string& key, const std::string& value);

  // Every counter that a group may have: CSV's columns, which the library fixes with its first
  // group.
  void set_counters(std::vector<std::string> names) { counters_ = std::move(names); }

  // Which of `groups` the filter selects, in order, by Google Benchmark's own matching. `invalid`
  // where it selects none or is no regular expression.
  Result<std::vector<std::size_t>> select(std::span<const BenchmarkGroup> groups) const;

  // Runs the selected groups, each once and in order (or, with list_only, prints their names to
  // stdout and runs nothing). `invalid` as select(); `failed` where the groups ran, and
  // --benchmark_out has not all of it.
  Status run(std::span<const BenchmarkGroup> groups) const;

 private:
  void initialise(bool list) const;
  std::unique_ptr<benchmark::BenchmarkReporter> make_output(bool& written) const;

  std::vector<std::string> passed_on_;  // flags for the library, with their dashes
  std::vector<std::pair<std::string, std::string>> context_;
  std::vector<std::string> counters_;
  std::string filter_, output_;
  std::string output_format_ = "json";
  bool csv_ = false;      // on the terminal
  bool tabular_ = false;  // --benchmark_counters_tabular
  bool list_only_ = false, own_table_ = true;
};

}  // namespace kvroof
