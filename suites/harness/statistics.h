// SPDX-License-Identifier: Apache-2.0
// Medians, and intervals around them by the percentile bootstrap.
#pragma once
#include <cstdint>
#include <optional>
#include <span>

namespace kvroof {

struct Bounds {
  double low = 0, high = 0;
};

constexpr std::uint32_t kResamples = 2000;
constexpr std::uint64_t kBootstrapSeed = 1;

// The middle value, or the mean of the two middle ones; NaN where there are no samples.
double median(std::span<const double> samples);

// The 95 % percentile bootstrap interval of the median: the 2.5th and 97.5th percentile of the
// medians of kResamples resamples drawn with replacement (B. Efron and R. Tibshirani, "An
// Introduction to the Bootstrap", 1993, chapter 13). The same samples and seed give the same bits
// on every platform. Empty with fewer than two samples, and where every resample has the same
// median: a width of zero tells nothing about the next run.
std::optional<Bounds> median_interval(std::span<const double> samples,
                                      std::uint64_t seed = kBootstrapSeed);

// The same of median(numerator) / median(denominator), the two resampled independently. Empty too
// where a denominator is not positive.
std::optional<Bounds> ratio_interval(std::span<const double> numerator,
                                     std::span<const double> denominator,
                                     std::uint64_t seed = kBootstrapSeed);

// What holds 95 % of `draws` (their 2.5th to 97.5th percentile), widened to hold `value`. Empty
// with fewer than two draws, and where they are all alike.
std::optional<Bounds> drawn_interval(std::span<const double> draws, double value);

// Half the width of `bounds` over the size of `middle`; infinite where `middle` is zero.
double relative_half_width(const Bounds& bounds, double middle);

}  // namespace kvroof
