// SPDX-License-Identifier: Apache-2.0
// Checks of where a profile's figures come from and how wide they are, for the catalogue's test.
#pragma once
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace kvroof {

// Metric by row id, of a table of published measurements.
using MeasurementMetrics = std::map<std::string, std::string>;

// Empty where the file can't be read.
MeasurementMetrics read_measurements(const std::string& path);

// One line for each figure (an object with "value" or "points") whose source is missing, names
// neither an address nor a row, or speaks of TTFT, prefill times or throughput.
std::vector<std::string> source_problems(const nlohmann::json& profile);

// One line for each figure that durations depend on, whose low equals its high and whose source
// does not say "by definition".
std::vector<std::string> width_problems(const nlohmann::json& profile);

// One line for each row id that the table lacks or whose metric the model is to predict.
std::vector<std::string> row_problems(const nlohmann::json& profile,
                                      const MeasurementMetrics& rows);

}  // namespace kvroof
