// SPDX-License-Identifier: Apache-2.0
#include "backends/registry/device_spec.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

namespace kvroof {
namespace {

constexpr std::string_view kNameCharacters = "abcdefghijklmnopqrstuvwxyz0123456789_-";
constexpr std::string_view kDevicesOption = "devices";

Status invalid(std::string_view text, const std::string& problem) {
  return {Code::invalid, "Device '" + std::string(text) + "': " + problem +
                             "; expected for example host, host:link=5GB/s, "
                             "sim:h100-sxm,link=pcie4x16 or cuda:0."};
}

bool is_name(std::string_view word) {
  return !word.empty() && word.find_first_not_of(kNameCharacters) == std::string_view::npos;
}

bool is_printable(std::string_view word) {
  return std::none_of(word.begin(), word.end(),
                      [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

bool is_count(std::string_view word) {
  constexpr std::size_t kMostDigits = 4;
  return !word.empty() && word.size() <= kMostDigits && word[0] != '0' &&
         word.find_first_not_of("0123456789") == std::string_view::npos;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t end; (end = text.find(separator)) != std::string_view::npos;) {
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  parts.push_back(text);
  return parts;
}

// Adds key=value to the options; empty when fine, else what is wrong.
std::string add_option(std::string_view part, DeviceSpec& spec) {
  const std::size_t equals = part.find('=');
  if (equals == std::string_view::npos) {
    return "'" + std::string(part) + "' is not an option of the form key=value";
  }
  const std::string key(part.substr(0, equals)), value(part.substr(equals + 1));
  if (!is_name(key)) return "'" + key + "' is not an option's name (lower case, digits, - and _)";
  if (value.empty()) return "option '" + key + "' has no value";
  if (!spec.options.emplace(key, value).second) return "option '" + key + "' is given twice";
  return {};
}

// "h100-sxm" or "h100-sxm*4"; empty when fine, else what is wrong.
std::string set_selector(std::string_view part, DeviceSpec& spec) {
  const std::size_t star = part.find('*');
  spec.selector = part.substr(0, star);
  if (spec.selector.empty()) return "nothing follows the ':'";
  if (star == std::string_view::npos) return {};
  const std::string count(part.substr(star + 1));
  if (!is_count(count)) return "'*" + count + "' is not a number of devices from 1 to 9999";
  spec.options.emplace(kDevicesOption, count);
  return {};
}

// What follows the adapter's name; the first part may be a selector, all others are options.
std::string parse_rest(std::string_view rest, bool may_select, DeviceSpec& spec) {
  for (const std::string_view part : split(rest, ',')) {
    const bool selects = may_select && part.find('=') == std::string_view::npos;
    const std::string problem = selects ? set_selector(part, spec) : add_option(part, spec);
    if (!problem.empty()) return problem;
    may_select = false;
  }
  return {};
}

struct Unit {
  std::string_view name;
  double bytes;
};

// Longer names first: every one of them ends in "B".
constexpr Unit kUnits[] = {{"KiB/s", 0x1p10}, {"MiB/s", 0x1p20}, {"GiB/s", 0x1p30},
                           {"TiB/s", 0x1p40}, {"KB/s", 1e3},     {"MB/s", 1e6},
                           {"GB/s", 1e9},     {"TB/s", 1e12},    {"B/s", 1}};
constexpr double kMostRate = 1e18;

}  // namespace

Result<DeviceSpec> parse_device(std::string_view text) {
  if (text.empty()) return invalid(text, "the name is empty");
  if (!is_printable(text))
    return Status{Code::invalid, "A device's name has no control characters."};
  const std::size_t end = text.find_first_of(":,");
  DeviceSpec spec{.adapter = std::string(text.substr(0, end)),
                  .selector = {},
                  .options = {},
                  .profile_text = {}};
  if (!is_name(spec.adapter)) {
    return invalid(text, "'" + spec.adapter + "' is not an adapter's name");
  }
  if (end == std::string_view::npos) return spec;
  const std::string problem = parse_rest(text.substr(end + 1), text[end] == ':', spec);
  if (!problem.empty()) return invalid(text, problem);
  return spec;
}

std::optional<double> parse_rate(std::string_view text) {
  for (const Unit& unit : kUnits) {
    if (!text.ends_with(unit.name)) continue;
    const std::string_view digits = text.substr(0, text.size() - unit.name.size());
    if (digits.find_first_not_of("0123456789.") != std::string_view::npos) return std::nullopt;
    double number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    const double rate = number * unit.bytes;
    const bool whole = error == std::errc() && end == digits.data() + digits.size();
    if (!whole || !std::isfinite(rate) || rate < 1 || rate > kMostRate) return std::nullopt;
    return rate;
  }
  return std::nullopt;
}

}  // namespace kvroof
