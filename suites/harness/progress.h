// SPDX-License-Identifier: Apache-2.0
// One line that says which case runs and when the rest will be done: redrawn on a terminal, one
// line a case elsewhere.
#pragma once
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>

namespace kvroof {

class Progress {
 public:
  // `total` cases in all. `clock` in seconds; empty: monotonic_seconds.
  Progress(std::size_t total, std::FILE* out, bool redraw, std::function<double()> clock = {});
  ~Progress();  // clears a redrawn line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // On stderr, redrawn where that is a terminal.
  static Progress on_stderr(std::size_t total);

  void begin(std::string_view what);                          // what runs now
  void end(std::string_view outcome, std::size_t cases = 1);  // "ok"; how many cases that were
  void clear();  // before something else is printed on the terminal

 private:
  std::string line(std::string_view tail) const;
  void show(const std::string& text);

  std::size_t total_, done_ = 0;
  std::FILE* out_;
  bool redraw_, shown_ = false;
  std::function<double()> clock_;
  double started_;
  std::string current_;
};

// "3 s", "4 min 05 s", "2 h 05 min".
std::string short_duration(double seconds);

}  // namespace kvroof
