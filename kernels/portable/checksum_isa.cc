// SPDX-License-Identifier: Apache-2.0
// Specification: XXH3_64bits(bytes, count). xxHash chooses its vectors by what it is compiled for,
// so it is compiled once for each instruction set, all of it with internal linkage.
// GCC 12 takes the undefined operands of its own AVX-512 intrinsics for mistakes (GCC bug 105593).
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstddef>
#include <cstdint>

namespace kvroof::KVROOF_ISA {

std::uint64_t checksum(const std::byte* bytes, std::uint64_t count);
std::uint64_t checksum(const std::byte* bytes, std::uint64_t count) {
  return XXH3_64bits(bytes, count);
}

}  // namespace kvroof::KVROOF_ISA
