// SPDX-License-Identifier: Apache-2.0
#include "kernels/prefill/random_values.h"

#include <algorithm>
#include <bit>

namespace kvroof {
namespace {

// Chris Wellons' "lowbias32": an integer hash of low bias that vectorises (two 32-bit products).
// https://nullprogram.com/blog/2018/07/31/
inline std::uint32_t mix(std::uint32_t x) {
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  return x ^ (x >> 16);
}

// Counters run over 2^32 values under one key; the key changes with everything above that.
std::uint32_t key_of(const RandomTensor& tensor, std::uint32_t high) {
  const auto seed_low = static_cast<std::uint32_t>(tensor.seed);
  const auto seed_high = static_cast<std::uint32_t>(tensor.seed >> 32);
  return mix(mix(mix(seed_low) ^ seed_high) + tensor.tensor * 0x9e3779b9u) ^ mix(high + 1);
}

constexpr float kUnit = 1.0f / 2147483648.0f;  // a signed 32-bit integer to [-1, 1)

// The integer is converted with one rounding and multiplied with another, on every machine alike.
inline float value(std::uint32_t key, std::uint32_t counter, float reach) {
  return static_cast<float>(static_cast<std::int32_t>(mix(counter ^ key))) * reach;
}

inline std::uint16_t to_bf16(float x) {  // to nearest, ties to even; x is finite
  const auto bits = std::bit_cast<std::uint32_t>(x);
  return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

struct Run {
  std::uint32_t key, first;
  float center, reach;  // reach in units of kUnit
};

__attribute__((target_clones("avx2", "default"))) void fill_f32(const Run& run, float* out,
                                                                std::size_t count) {
  const Run r = run;
  for (std::size_t i = 0; i < count; ++i) {
    out[i] = r.center + value(r.key, r.first + static_cast<std::uint32_t>(i), r.reach);
  }
}

__attribute__((target_clones("avx2", "default"))) void fill_bf16(const Run& run, std::uint16_t* out,
                                                                 std::size_t count) {
  const Run r = run;
  for (std::size_t i = 0; i < count; ++i) {
    out[i] = to_bf16(r.center + value(r.key, r.first + static_cast<std::uint32_t>(i), r.reach));
  }
}

}  // namespace

void fill_random(const RandomTensor& tensor, std::uint64_t first, std::span<std::byte> out) {
  constexpr std::uint64_t kCounters = 1ull << 32;
  const std::uint64_t element = bytes_of(tensor.dtype);
  for (std::uint64_t left = out.size() / element; left > 0;) {
    const std::uint64_t count = std::min(left, kCounters - first % kCounters);
    const Run run{key_of(tensor, static_cast<std::uint32_t>(first / kCounters)),
                  static_cast<std::uint32_t>(first % kCounters), tensor.center,
                  tensor.reach * kUnit};
    if (tensor.dtype == DType::f32) {
      fill_f32(run, reinterpret_cast<float*>(out.data()), count);
    } else {
      fill_bf16(run, reinterpret_cast<std::uint16_t*>(out.data()), count);
    }
    out = out.subspan(count * element);
    first += count;
    left -= count;
  }
}

}  // namespace kvroof
