// SPDX-License-Identifier: Apache-2.0
// Walks a profile's figures and their sources.
#include "suites/catalog/sources.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <functional>
#include <regex>

#include "suites/catalog/csv.h"

namespace kvroof {
namespace {

using Json = nlohmann::json;

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

bool is_predicted(const std::string& text) {
  static const std::regex kPredicted("ttft|prefill_time|prefill rate|throughput|_tps");
  return std::regex_search(lower(text), kPredicted);
}

bool is_row(const std::string& text) {
  static const std::regex kRow("[A-Z][0-9]{3}");
  return std::regex_match(text, kRow);
}

bool is_figure(const Json& node) {
  return node.is_object() && (node.contains("value") || node.contains("points"));
}

// A capacity or a peak, which no duration is drawn from.
bool is_fact(const std::string& path) {
  return path == "/memory" || path == "/host_memory" || path.ends_with("/peak");
}

using Visit = std::function<void(const std::string& path, const Json& figure)>;

void each_figure(const Json& node, const std::string& path, const Visit& visit) {
  if (is_figure(node)) return visit(path, node);
  if (!node.is_structured()) return;
  for (const auto& item : node.items()) {
    each_figure(item.value(), path + "/" + item.key(), visit);
  }
}

std::string source_problem(const Json& figure) {
  const std::string source = figure.value("source", "");
  static const std::regex kNamed("https://[^ ]+\\.[^ ]+|\\b[A-Z][0-9]{3}\\b");
  if (source.empty()) return "has no source";
  if (!std::regex_search(source, kNamed)) return "names neither an address nor a row: " + source;
  if (is_predicted(source)) return "comes from what the model is to predict: " + source;
  return "";
}

}  // namespace

MeasurementMetrics read_measurements(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  MeasurementMetrics metrics;
  if (!std::getline(file, line)) return metrics;
  const std::vector<std::string> header = csv_fields(line);
  const auto metric =
      static_cast<std::size_t>(std::find(header.begin(), header.end(), "metric") - header.begin());
  while (std::getline(file, line)) {
    const std::vector<std::string> row = csv_fields(line);
    if (row.size() > metric) metrics[row[0]] = row[metric];
  }
  return metrics;
}

std::vector<std::string> source_problems(const Json& profile) {
  std::vector<std::string> problems;
  each_figure(profile, "", [&](const std::string& path, const Json& figure) {
    const std::string problem = source_problem(figure);
    if (!problem.empty()) problems.push_back(path + " " + problem);
  });
  return problems;
}

std::vector<std::string> width_problems(const Json& profile) {
  std::vector<std::string> problems;
  each_figure(profile, "", [&](const std::string& path, const Json& figure) {
    if (is_fact(path) || figure.at("low") < figure.at("high")) return;
    if (figure.value("source", "").find("by definition") != std::string::npos) return;
    problems.push_back(path + " has no width and is not exact by definition");
  });
  return problems;
}

std::vector<std::string> row_problems(const Json& profile, const MeasurementMetrics& rows) {
  std::vector<std::string> problems;
  each_figure(profile, "", [&](const std::string& path, const Json& figure) {
    for (const std::string row : figure.value("rows", Json::array())) {
      if (!is_row(row)) continue;  // a row of another table, named in words
      const auto found = rows.find(row);
      if (found == rows.end()) {
        problems.push_back(path + " names row " + row + ", which the table lacks");
      } else if (is_predicted(found->second)) {
        problems.push_back(path + " comes from row " + row + ", a " + found->second);
      }
    }
  });
  return problems;
}

}  // namespace kvroof
