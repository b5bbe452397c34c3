// SPDX-License-Identifier: Apache-2.0
// The text of single grid values: counts with k, lists with ranges, bytes, rates.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "backends/api/status.h"

namespace kvroof {

// "10240", "10k" (k = 1024). Zero only where `minimum` is 0. Errors say what is wrong with `text`.
Result<std::uint64_t> parse_count(std::string_view text, std::uint64_t minimum,
                                  std::uint64_t maximum);

// Counts between commas; an ellipsis (three dots or the one character) between two of them goes on
// with the step of the two before it: "10k,20k,...,100k". No value twice.
Result<std::vector<std::uint64_t>> parse_counts(std::string_view text, std::uint64_t minimum,
                                                std::uint64_t maximum);

// "1073741824", "1GiB", "1.5GB": bytes, at least one.
Result<std::uint64_t> parse_bytes(std::string_view text);

// "native", "nvlink-c2c", "pcie4x16" (generation 1 to 7, width 1 to 32) or a rate such as "20GB/s".
Result<std::string> parse_link(std::string_view text);

// For error sentences: in quotes, cut after 40 bytes, control characters replaced.
std::string in_quotes(std::string_view text);

std::vector<std::string_view> split(std::string_view text, char separator);

}  // namespace kvroof
