// SPDX-License-Identifier: Apache-2.0
#include "kernels/portable/checksum.h"

#include "kernels/portable/isa.h"

namespace kvroof {

namespace baseline {
std::uint64_t checksum(const std::byte* bytes, std::uint64_t count);
}
namespace avx2 {
std::uint64_t checksum(const std::byte* bytes, std::uint64_t count);
}
namespace avx512 {
std::uint64_t checksum(const std::byte* bytes, std::uint64_t count);
}

std::uint64_t checksum(const std::byte* bytes, std::uint64_t count) {
  static const auto best = [] {
    if (runs_here(Isa::avx512)) return avx512::checksum;
    return runs_here(Isa::avx2) ? avx2::checksum : baseline::checksum;
  }();
  return best(bytes, count);
}

void checksum_parts(const RowSums& sums, std::uint64_t first, std::uint64_t end) {
  const std::uint64_t bytes = sums.row_bytes / sums.parts;
  for (std::uint64_t i = first; i < end; ++i) {
    const std::uint64_t named = i / sums.parts;
    const auto row = sums.index ? static_cast<std::uint64_t>(sums.index[named]) : named;
    sums.out[i] = checksum(sums.source + row * sums.row_bytes + i % sums.parts * bytes, bytes);
  }
}

}  // namespace kvroof
