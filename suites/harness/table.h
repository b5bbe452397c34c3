// SPDX-License-Identifier: Apache-2.0
// A table for the terminal that fits 80 columns.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "suites/harness/statistics.h"

namespace kvroof {

class Table {
 public:
  enum class Align { left, right };
  struct Column {
    std::string title;  // with its unit: "TTFT ms"
    Align align = Align::right;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // As many cells as columns; missing ones are empty.
  void add_row(std::vector<std::string> cells);

  std::size_t width() const;  // of the longest line, with nothing cut

  // Header, a rule, rows; each line ends with '\n'. Where the whole is wider than `width`, the
  // widest left-aligned column is cut with an ellipsis; numbers are never cut.
  std::string text(std::size_t width = 80) const;

 private:
  std::vector<std::size_t> widths(std::size_t limit) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

std::string significant(double value, int digits = 3);  // "0.0123", "51.3", "12300"; "-" for NaN
std::string milliseconds(double seconds);               // "12.3" for 0.0123, "6225" for 6.2251
// Around `middle`: "±3.2%", or "-4/+28%" where the two sides differ by more than a percent of it.
std::string interval_text(const Bounds& bounds, double middle);
std::string token_count(std::uint64_t tokens);  // "10k" for 10240, "1000" for 1000
std::string byte_count(std::uint64_t bytes);    // "2 MiB", "12.5 GiB", "100 B"

}  // namespace kvroof
