// SPDX-License-Identifier: Apache-2.0
#include "suites/harness/grid_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>

#include "backends/registry/device_spec.h"

namespace kvroof {
namespace {

constexpr std::size_t kMaxValues = 100'000;  // of one list

Status invalid(std::string text) { return {Code::invalid, std::move(text)}; }

bool is_ellipsis(std::string_view text) { return text == "..." || text == "…"; }

// All of `text`, in decimal, without a sign or spaces.
std::optional<std::uint64_t> whole_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Goes on from the last value with the step of the last two, up to and with `end`.
Status extend(std::vector<std::uint64_t>& values, std::uint64_t end) {
  if (values.size() < 2) return invalid("'...' needs two values before it, as in 10k,20k,...,100k");
  const std::uint64_t last = values.back(), before = values[values.size() - 2];
  if (last <= before || end <= last || (end - last) % (last - before) != 0) {
    return invalid(fmt::format("'...' cannot get from {} to {} in steps like {} to {}", last, end,
                               before, last));
  }
  if ((end - last) / (last - before) > kMaxValues) {
    return invalid(fmt::format("'...' up to {} gives more than {} values", end, kMaxValues));
  }
  for (std::uint64_t value = last; value < end;) values.push_back(value += last - before);
  return {};
}

Status refuse_repeats(const std::vector<std::uint64_t>& values) {
  std::set<std::uint64_t> seen;
  for (const std::uint64_t value : values) {
    if (!seen.insert(value).second) return invalid(fmt::format("{} is given twice", value));
  }
  return {};
}

}  // namespace

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kLongest = 40;
  std::string shown(text.substr(0, kLongest));
  std::replace_if(
      shown.begin(), shown.end(),
      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, '?');
  return "'" + shown + (text.size() > kLongest ? "...'" : "'");
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

Result<std::uint64_t> parse_count(std::string_view text, std::uint64_t minimum,
                                  std::uint64_t maximum) {
  std::string_view digits = text;
  std::uint64_t factor = 1;
  if (!digits.empty() && (digits.back() == 'k' || digits.back() == 'K')) factor = 1024;
  if (!digits.empty() && digits.back() == 'M') factor = 1024 * 1024;
  if (factor > 1) digits.remove_suffix(1);
  const auto number = whole_number(digits);
  if (!number || *number > maximum / factor || *number * factor < minimum) {
    return invalid(fmt::format("{} is not a whole number from {} to {} (10k means 10240)",
                               in_quotes(text), minimum, maximum));
  }
  return *number * factor;
}

Result<std::vector<std::uint64_t>> parse_counts(std::string_view text, std::uint64_t minimum,
                                                std::uint64_t maximum) {
  std::vector<std::uint64_t> values;
  bool open_range = false;
  for (const std::string_view part : split(text, ',')) {
    if (is_ellipsis(part) && !open_range) {
      open_range = true;
      continue;
    }
    const auto value = parse_count(part, minimum, maximum);
    if (!value.ok()) return value.status();
    if (open_range) {
      if (Status status = extend(values, *value); !status.ok()) return status;
    } else {
      values.push_back(*value);
    }
    open_range = false;
  }
  if (open_range) return invalid("'...' needs a last value after it, as in 10k,20k,...,100k");
  if (Status status = refuse_repeats(values); !status.ok()) return status;
  return values;
}

Result<std::uint64_t> parse_bytes(std::string_view text) {
  if (const auto number = whole_number(text); number && *number > 0) return *number;
  // A size is a rate without its "/s".
  if (const auto rate = parse_rate(std::string(text) + "/s")) {
    return static_cast<std::uint64_t>(*rate);
  }
  return invalid(in_quotes(text) + " is not a number of bytes above 0, such as 16GiB or 100000000");
}

Result<std::string> parse_link(std::string_view text) {
  if (text == "native" || text == "nvlink-c2c") return std::string(text);
  if (parse_rate(text)) return std::string(text);
  if (text.starts_with("pcie")) {
    const auto parts = split(text.substr(4), 'x');
    const auto generation = whole_number(parts[0]);
    const auto width = parts.size() == 2 ? whole_number(parts[1]) : std::nullopt;
    const bool power = width && *width >= 1 && *width <= 32 && (*width & (*width - 1)) == 0;
    if (generation && *generation >= 1 && *generation <= 7 && power) return std::string(text);
  }
  return invalid(in_quotes(text) +
                 " is not a link: native, pcie4x16, nvlink-c2c or a rate such as 20GB/s");
}

}  // namespace kvroof
