// SPDX-License-Identifier: Apache-2.0
// The instruction sets that host kernels are compiled for, and which of them this CPU runs.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

namespace kvroof {

enum class Isa : std::uint8_t {
  baseline,
  avx2,
  avx512,
  avx512_bf16
};  // ordered: each can run what is before it

inline constexpr std::array kIsas = {Isa::baseline, Isa::avx2, Isa::avx512, Isa::avx512_bf16};

constexpr std::string_view name(Isa isa) {
  constexpr std::string_view kNames[] = {"baseline", "AVX2", "AVX-512", "AVX-512 BF16"};
  return kNames[static_cast<std::size_t>(isa)];
}

// AVX2 stands for AVX2 with FMA; AVX-512 for F, BW, DQ and VL. Most kernels have nothing of their
// own for BF16, and are those of AVX-512 there.
bool runs_here(Isa isa);

Isa best_isa();

}  // namespace kvroof
