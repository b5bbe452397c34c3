// SPDX-License-Identifier: Apache-2.0
// What a run records: results/schema/v1.json as types. Seconds and bytes throughout.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/api/device.h"
#include "suites/harness/json.h"
#include "suites/harness/statistics.h"

namespace kvroof {

constexpr int kSchemaVersion = 1;

enum class Outcome : std::uint8_t { ok, skipped, failed, incorrect };

constexpr std::string_view name(Outcome outcome) {
  constexpr std::string_view kNames[] = {"ok", "skipped", "failed", "incorrect"};
  return kNames[static_cast<std::size_t>(outcome)];
}

// One figure of a case. Made by the functions below; `unit` is one of kUnits.
struct Metric {
  std::string unit;
  std::optional<double> median;  // measured and modelled figures
  std::optional<Bounds> ci95;    // never of zero width; empty: "no interval"
  std::vector<double> samples;   // measured figures; empty for a ratio of two sets of samples
  std::vector<double> draws;  // modelled figures, one a draw; in FILE.part, but not in the record
  std::optional<bool> samples_enough;  // measured: whether ci95 got as narrow as was asked
  std::optional<std::uint64_t> value;  // exact counts, which have nothing else
  std::optional<Basis> basis;          // where it is not that of the case
};

constexpr std::string_view kUnits[] = {"s",      "bytes",   "bytes/s", "FLOP",
                                       "FLOP/s", "ratio",   "tokens",  "chunks",
                                       "blocks", "regions", "count",   "FLOP/byte"};

// `enough`: whether sampling reached its target. The interval is the bootstrap's.
Metric measured_metric(std::string unit, std::vector<double> samples, bool enough);

// A figure that follows from one virtual-time run, or that is not repeated. `draws`: what it is for
// each draw of the profile's parameters; the interval holds 95 % of them, and the value.
Metric modelled_metric(std::string unit, double value, std::vector<double> draws = {});

Metric count_metric(std::string unit, std::uint64_t value);

// median(numerator) / median(denominator), with unit "ratio" and the bootstrap interval of it.
// Modelled: of the ratio draw by draw. Where either has neither samples nor as many draws, the
// ratio has no interval.
Metric ratio_metric(const Metric& numerator, const Metric& denominator);

// The same figure through an increasing linear function: samples, median and interval times
// `factor` (which is positive), in another unit.
Metric scaled_metric(const Metric& metric, double factor, std::string unit);

// What a case's params may have beside the grid's axes: `layers` where the model was cut to fewer,
// and `data`: whether bytes moved on a simulated device.
// Of `kvroof verify`: the check, the order and heads of the KV that it used, what was done to a
// file.
constexpr std::string_view kOtherParams[] = {"layers",   "data",     "check",
                                             "kv_order", "kv_heads", "damage"};

struct Case {
  std::string suite;
  Json params = Json::object();  // the grid's axes in its order, and kOtherParams
  Outcome outcome = Outcome::ok;
  std::string reason;  // a sentence; empty exactly where the outcome is ok
  Basis basis = Basis::measured;
  Json tier;       // of the host, as obtained (tier_json()); null where the case has none
  Json copy_auto;  // what `copy` auto took, and beside what (copy_auto_json()); else null
  std::vector<std::pair<std::string, Metric>> metrics;  // in the order in which they are shown
};

// Null where the case has no such metric.
const Metric* find_metric(const Case& one, std::string_view name);

enum class Verdict : std::uint8_t { found, none_in_range, below_smallest, inside_interval };

constexpr std::string_view name(Verdict verdict) {
  constexpr std::string_view kNames[] = {"found", "none_in_range", "below_smallest",
                                         "inside_interval"};
  return kNames[static_cast<std::size_t>(verdict)];
}

struct Answer {
  std::string question;                  // "crossover"
  Json params = Json::object();          // as a case's, and "margin"
  std::optional<double> context_tokens;  // one tried; empty exactly where none_in_range
  std::optional<Bounds> ci95;            // of context_tokens
  Verdict verdict = Verdict::none_in_range;
  Basis basis = Basis::measured;
};

struct RunHeader {
  Json tool;  // tool_json()
  std::vector<std::string> argv;
  std::string started;  // utc_now()
  std::uint64_t seed = 1;
  Json system;                 // system_json(read_system_info())
  Json device;                 // device_json()
  Json model;                  // model_json()
  Json part = Json::object();  // what FILE.part alone says of the run: suites, grid and draws
};

Json to_json(const Metric& metric);
Json to_json(const Case& one);
Json to_json(const Answer& answer);
Json to_json(const RunHeader& header);  // schema_version first; without what only the end knows

}  // namespace kvroof
