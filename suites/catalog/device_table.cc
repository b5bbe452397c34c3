// SPDX-License-Identifier: Apache-2.0
#include "suites/catalog/device_table.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <regex>

#include "suites/catalog/csv.h"

namespace kvroof {
namespace {

constexpr double kGiga = 1e9, kTera = 1e12;

std::size_t column(const std::vector<std::string>& header, std::string_view begin) {
  const auto found = std::find_if(header.begin(), header.end(),
                                  [&](const std::string& name) { return name.starts_with(begin); });
  return static_cast<std::size_t>(found - header.begin());
}

}  // namespace

std::string catalog_name(std::string_view table_name) {
  static const std::regex kDropped("\\([^)]*\\)|/.*"), kOuter("^ +| +$"), kSpaces(" +");
  std::string name = std::regex_replace(std::string(table_name), kDropped, "");
  name = std::regex_replace(std::regex_replace(name, kOuter, ""), kSpaces, "-");
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name;
}

std::vector<DeviceRow> read_devices(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::vector<DeviceRow> rows;
  if (!std::getline(file, line)) return rows;
  const std::vector<std::string> header = csv_fields(line);
  const std::size_t gpu = column(header, "gpu"), flops = column(header, "bf16_dense_peak"),
                    memory = column(header, "hbm_capacity"), hbm = column(header, "hbm_bandwidth"),
                    link = column(header, "host_link");
  while (std::getline(file, line)) {
    const std::vector<std::string> row = csv_fields(line);
    rows.push_back({.name = catalog_name(row.at(gpu)),
                    .bf16_flops = std::stod(row.at(flops)) * kTera,
                    .memory_bytes = std::stod(row.at(memory)) * kGiga,
                    .hbm_rate = std::stod(row.at(hbm)) * kGiga,
                    .link_rate = std::stod(row.at(link)) * kGiga});
  }
  return rows;
}

}  // namespace kvroof
