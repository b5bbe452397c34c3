// SPDX-License-Identifier: Apache-2.0
#include "suites/harness/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "suites/harness/wall_clock.h"

namespace kvroof {
namespace {

constexpr std::size_t kColumns = 79;  // a redrawn line must not wrap

}  // namespace

Progress::Progress(std::size_t total, std::FILE* out, bool redraw, std::function<double()> clock)
    : total_(total),
      out_(out),
      redraw_(redraw),
      clock_(clock ? std::move(clock) : monotonic_seconds),
      started_(clock_()) {}

Progress::~Progress() { clear(); }

Progress Progress::on_stderr(std::size_t total) {
  return Progress(total, stderr, ::isatty(STDERR_FILENO) == 1);
}

std::string Progress::line(std::string_view tail) const {
  std::string left;
  if (done_ > 0 && done_ < total_) {
    const double a_case = (clock_() - started_) / static_cast<double>(done_);
    left = ", about " + short_duration(a_case * static_cast<double>(total_ - done_)) + " left";
  }
  return fmt::format("[{}/{}{}] {}{}", done_, total_, left, current_, tail);
}

void Progress::show(const std::string& text) {
  if (redraw_) {
    fmt::print(out_, "\r\x1b[K{}", text.substr(0, kColumns));
    shown_ = true;
  } else {
    fmt::print(out_, "{}\n", text);
  }
  std::fflush(out_);
}

void Progress::begin(std::string_view what) {
  current_ = what;
  if (redraw_) show(line(""));
}

void Progress::end(std::string_view outcome, std::size_t cases) {
  done_ += cases;
  show(line(fmt::format(": {}", outcome)));
}

void Progress::clear() {
  if (!shown_) return;
  fmt::print(out_, "\r\x1b[K");
  std::fflush(out_);
  shown_ = false;
}

std::string short_duration(double seconds) {
  const auto whole = static_cast<std::uint64_t>(std::llround(std::max(0.0, seconds)));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

}  // namespace kvroof
