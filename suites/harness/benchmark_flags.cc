// SPDX-License-Identifier: Apache-2.0
#include "suites/harness/benchmark_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "suites/harness/grid_values.h"

namespace kvroof {
namespace {

struct Row {
  std::string_view name;
  std::string_view values;  // of a closed list, between bars; empty: see `free`
  bool free = false;        // any value; neither: the flag is refused
};

constexpr std::string_view kBooleans = "true|false|1|0|yes|no|on|off|t|f|y|n";

// The flags of Google Benchmark 1.7.
constexpr std::array kFlags = {
    Row{"benchmark_filter", "", true},
    Row{"benchmark_list_tests", kBooleans},
    Row{"benchmark_out", "", true},
    Row{"benchmark_out_format", "console|json|csv"},
    Row{"benchmark_format", "console|json|csv"},
    Row{"benchmark_color", "auto|true|false|1|0|yes|no|on|off|t|f|y|n"},
    Row{"benchmark_counters_tabular", kBooleans},
    Row{"benchmark_time_unit", "ns|us|ms|s"},
    Row{"benchmark_context", "", true},
    Row{"v", "0|1|2|3"},
    Row{"benchmark_repetitions", ""},
    Row{"benchmark_min_time", ""},
    Row{"benchmark_min_warmup_time", ""},
    Row{"benchmark_enable_random_interleaving", ""},
    Row{"benchmark_report_aggregates_only", ""},
    Row{"benchmark_display_aggregates_only", ""},
    Row{"benchmark_perf_counters", ""},
};

Status invalid(std::string text) { return {Code::invalid, std::move(text)}; }

bool listed(std::string_view value, std::string_view values) {
  const auto all = split(values, '|');
  return std::find(all.begin(), all.end(), value) != all.end();
}

// key=value pairs between commas.
bool is_context(std::string_view value) {
  const auto pairs = split(value, ',');
  return std::all_of(pairs.begin(), pairs.end(), [](std::string_view pair) {
    return split(pair, '=').size() == 2 && !pair.starts_with('=');
  });
}

}  // namespace

Result<BenchmarkFlag> parse_benchmark_flag(std::string_view argument) {
  const std::string_view text = argument.starts_with("--") ? argument.substr(2) : "";
  const auto equals = text.find('=');
  const std::string_view name = text.substr(0, equals);
  const auto* row =
      std::find_if(kFlags.begin(), kFlags.end(), [&](const Row& one) { return one.name == name; });
  if (row == kFlags.end()) {
    return invalid(in_quotes(argument) +
                   " after -- is no flag of Google Benchmark, such as --benchmark_filter=REGEX");
  }
  if (!row->free && row->values.empty()) {
    return invalid(
        fmt::format("--{}: kvroof warms, repeats and interleaves by itself until the "
                    "intervals are narrow; leave it out",
                    name));
  }
  const bool boolean = listed("true", row->values);
  if (equals == std::string_view::npos && !boolean) {
    return invalid(fmt::format("--{} needs a value: --{}=VALUE", name, name));
  }
  const std::string_view value =
      equals == std::string_view::npos ? "true" : text.substr(equals + 1);
  if (!row->free && !listed(value, row->values)) {
    return invalid(fmt::format("--{}: {} is none of {}", name, in_quotes(value), row->values));
  }
  if (name == "benchmark_context" && !is_context(value)) {
    return invalid(fmt::format("--{}: {} is not key=value", name, in_quotes(value)));
  }
  return BenchmarkFlag{std::string(name), std::string(value)};
}

}  // namespace kvroof
