// SPDX-License-Identifier: Apache-2.0
#include "suites/harness/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace kvroof {
namespace {

constexpr std::string_view kGap = "  ";
constexpr std::size_t kNarrowest = 6;  // a text column is not cut below this

// Columns on a terminal, taking each UTF-8 character for one.
std::size_t columns_of(std::string_view text) {
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; };
  return text.size() - static_cast<std::size_t>(std::count_if(text.begin(), text.end(), continues));
}

std::string cut(const std::string& text, std::size_t width) {
  if (columns_of(text) <= width) return text;
  std::size_t bytes = 0;
  for (std::size_t seen = 0; bytes < text.size(); ++bytes) {
    if ((static_cast<unsigned char>(text[bytes]) & 0xC0) != 0x80 && seen++ == width - 1) break;
  }
  return text.substr(0, bytes) + "…";
}

std::string padded(const std::string& cell, std::size_t width, Table::Align align) {
  const std::string shown = cut(cell, width);
  const std::string space(width - columns_of(shown), ' ');
  return align == Table::Align::left ? shown + space : space + shown;
}

std::string trimmed_line(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + '\n';
}

}  // namespace

void Table::add_row(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
}

std::vector<std::size_t> Table::widths(std::size_t limit) const {
  std::vector<std::size_t> result;
  std::size_t total = kGap.size() * (columns_.empty() ? 0 : columns_.size() - 1);
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t width = columns_of(columns_[i].title);
    for (const auto& row : rows_) width = std::max(width, columns_of(row[i]));
    result.push_back(width);
    total += width;
  }
  for (; total > limit; --total) {
    std::size_t* widest = nullptr;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const bool can_shrink = columns_[i].align == Align::left && result[i] > kNarrowest;
      if (can_shrink && (widest == nullptr || result[i] > *widest)) widest = &result[i];
    }
    if (widest == nullptr) break;
    --*widest;
  }
  return result;
}

std::size_t Table::width() const {
  std::size_t total = kGap.size() * (columns_.empty() ? 0 : columns_.size() - 1);
  for (const std::size_t column : widths(SIZE_MAX)) total += column;
  return total;
}

std::string Table::text(std::size_t width) const {
  const std::vector<std::size_t> columns = widths(width);
  const auto line = [&](auto&& cell) {
    std::string text;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (i > 0) text += kGap;
      text += padded(cell(i), columns[i], columns_[i].align);
    }
    return trimmed_line(text);
  };
  std::string text = line([&](std::size_t i) { return columns_[i].title; });
  text += line([&](std::size_t i) { return std::string(columns[i], '-'); });
  for (const auto& row : rows_) text += line([&](std::size_t i) { return row[i]; });
  return text;
}

std::string significant(double value, int digits) {
  if (std::isnan(value)) return "-";
  if (value == 0 || std::isinf(value)) return fmt::format("{}", value);
  // Rounding first: 9.996 with three digits is 10.0 and has one decimal.
  const double rounded = std::stod(fmt::format("{:.{}e}", value, digits - 1));
  const int magnitude = static_cast<int>(std::floor(std::log10(std::abs(rounded))));
  if (magnitude < -4 || magnitude > 6) return fmt::format("{:.{}e}", rounded, digits - 1);
  return fmt::format("{:.{}f}", rounded, std::max(0, digits - 1 - magnitude));
}

std::string milliseconds(double seconds) {
  const double shown = seconds * 1e3;
  return shown < 999.5 ? significant(shown) : fmt::format("{:.0f}", shown);
}

std::string interval_text(const Bounds& bounds, double middle) {
  const double percent = 100 / std::abs(middle);
  const double below = (middle - bounds.low) * percent, above = (bounds.high - middle) * percent;
  if (std::abs(above - below) <= 1)
    return fmt::format("±{}%", significant(std::max(below, above), 2));
  return fmt::format("-{:.0f}/+{:.0f}%", below, above);
}

std::string token_count(std::uint64_t tokens) {
  if (tokens > 0 && tokens % 1024 == 0) return fmt::format("{}k", tokens / 1024);
  return fmt::format("{}", tokens);
}

std::string byte_count(std::uint64_t bytes) {
  constexpr std::array kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  double value = static_cast<double>(bytes);
  for (; value >= 1024 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  const bool whole = value == std::floor(value);
  return fmt::format("{} {}", whole ? fmt::format("{:.0f}", value) : significant(value),
                     kUnits[unit]);
}

}  // namespace kvroof
