// SPDX-License-Identifier: Apache-2.0
// Random numbers by what they are for instead of by when they are asked for: threads that take
// turns as they please draw the same.
#pragma once
#include <cstdint>

namespace kvroof::faults {

// A step of splitmix64 (Steele, Lea and Flood 2014), which passes for random whatever goes in.
constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// The draw of `seed` number `index` in stream `stream`.
constexpr std::uint64_t draw(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
  return mix(mix(mix(seed) ^ stream) ^ index);
}

// In [0, 1).
constexpr double unit(std::uint64_t draw) { return static_cast<double>(draw >> 11) * 0x1p-53; }

}  // namespace kvroof::faults
