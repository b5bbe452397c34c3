// SPDX-License-Identifier: Apache-2.0
// Element types that ops and KV caches know.
#pragma once
#include <cstdint>
#include <string_view>

namespace kvroof {

enum class DType : std::uint8_t { f32, bf16, fp8, int8, i32 };  // fp8 is e4m3

constexpr std::uint64_t bytes_of(DType dtype) {
  constexpr std::uint64_t kBytes[] = {4, 2, 1, 1, 4};
  return kBytes[static_cast<std::size_t>(dtype)];
}

// Values that say something only times a scale of their own: f32, one a vector of a KV cache.
constexpr bool is_quantised(DType dtype) { return dtype == DType::fp8 || dtype == DType::int8; }

// Of one vector's scale; 0 where it has none.
constexpr std::uint64_t scale_bytes_of(DType dtype) {
  return is_quantised(dtype) ? sizeof(float) : 0;
}

constexpr std::string_view name(DType dtype) {
  constexpr std::string_view kNames[] = {"f32", "bf16", "fp8", "int8", "i32"};
  return kNames[static_cast<std::size_t>(dtype)];
}

}  // namespace kvroof
