// SPDX-License-Identifier: Apache-2.0
#include "suites/harness/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace kvroof {
namespace {

// A draw in [0, bound) that is the same on every platform, unlike uniform_int_distribution's: the
// high half of a 32 x 32 bit product. Its bias is bound / 2^32.
std::size_t draw_below(std::mt19937_64& random, std::size_t bound) {
  return static_cast<std::size_t>(((random() >> 32) * bound) >> 32);
}

double median_in_place(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

double resampled_median(std::span<const double> samples, std::mt19937_64& random,
                        std::vector<double>& scratch) {
  scratch.resize(samples.size());
  for (double& value : scratch) value = samples[draw_below(random, samples.size())];
  return median_in_place(scratch);
}

// The 2.5th and 97.5th percentile: of B sorted values, those at 0.025 B and, from the other end, as
// far.
std::optional<Bounds> percentile_interval(std::vector<double>& values) {
  std::sort(values.begin(), values.end());
  const std::size_t tail = values.size() / 40;
  const Bounds bounds{values[tail], values[values.size() - 1 - tail]};
  if (!(bounds.low < bounds.high)) return std::nullopt;
  return bounds;
}

}  // namespace

double median(std::span<const double> samples) {
  if (samples.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::vector<double> values(samples.begin(), samples.end());
  return median_in_place(values);
}

std::optional<Bounds> median_interval(std::span<const double> samples, std::uint64_t seed) {
  if (samples.size() < 2) return std::nullopt;
  std::mt19937_64 random(seed);
  std::vector<double> medians(kResamples), scratch;
  for (double& value : medians) value = resampled_median(samples, random, scratch);
  return percentile_interval(medians);
}

std::optional<Bounds> ratio_interval(std::span<const double> numerator,
                                     std::span<const double> denominator, std::uint64_t seed) {
  if (numerator.size() < 2 || denominator.size() < 2) return std::nullopt;
  if (*std::min_element(denominator.begin(), denominator.end()) <= 0) return std::nullopt;
  std::mt19937_64 random(seed);
  std::vector<double> ratios(kResamples), scratch;
  for (double& value : ratios) {
    const double top = resampled_median(numerator, random, scratch);
    value = top / resampled_median(denominator, random, scratch);
  }
  return percentile_interval(ratios);
}

std::optional<Bounds> drawn_interval(std::span<const double> draws, double value) {
  if (draws.size() < 2) return std::nullopt;
  std::vector<double> values(draws.begin(), draws.end());
  const auto middle = percentile_interval(values);
  if (!middle) return std::nullopt;
  return Bounds{std::min(middle->low, value), std::max(middle->high, value)};
}

double relative_half_width(const Bounds& bounds, double middle) {
  if (middle == 0) return std::numeric_limits<double>::infinity();
  return (bounds.high - bounds.low) / 2 / std::abs(middle);
}

}  // namespace kvroof
