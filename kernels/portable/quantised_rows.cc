// SPDX-License-Identifier: Apache-2.0
// Specification: for (i in rows, v in vectors) scale(out row i, v) = quantise(vector v of source
// row index[i], values(out row i, v)), and back with the sides exchanged.
#include "kernels/portable/quantised_rows.h"

#include <cstring>

#include "kernels/portable/quantise.h"

namespace kvroof {
namespace {

// Of one vector in a narrow row.
template <class Byte>
auto values_at(Byte* row, const NarrowRow& shape, std::uint64_t vector) {
  return row + vector * shape.width;
}
template <class Byte>
auto scale_at(Byte* row, const NarrowRow& shape, std::uint64_t vector) {
  return row + shape.values() + vector * sizeof(float);
}

std::uint64_t wide_offset(const NarrowMove& move, std::uint32_t i, std::uint64_t vector) {
  const auto row = static_cast<std::uint64_t>(move.index[i]);
  return row * move.row.wide_bytes() + vector * move.row.width * bytes_of(move.row.wide);
}

}  // namespace

void quantise_vectors(const NarrowMove& move, std::uint32_t first, std::uint32_t end) {
  const QuantiseKernels& kernels = quantise_kernels(move.row.wide, move.row.narrow);
  for (std::uint32_t i = 0; i < move.rows; ++i) {
    std::byte* const row = move.out + i * move.row.narrow_bytes();
    for (std::uint64_t v = first; v < end; ++v) {
      auto* const values = reinterpret_cast<std::uint8_t*>(values_at(row, move.row, v));
      const float scale =
          kernels.quantise(move.source + wide_offset(move, i, v), values, move.row.width);
      std::memcpy(scale_at(row, move.row, v), &scale, sizeof(scale));
    }
  }
}

void dequantise_vectors(const NarrowMove& move, std::uint32_t first, std::uint32_t end) {
  const QuantiseKernels& kernels = quantise_kernels(move.row.wide, move.row.narrow);
  for (std::uint32_t i = 0; i < move.rows; ++i) {
    const std::byte* const row = move.source + i * move.row.narrow_bytes();
    for (std::uint64_t v = first; v < end; ++v) {
      const auto* const values = reinterpret_cast<const std::uint8_t*>(values_at(row, move.row, v));
      float scale = 0;
      std::memcpy(&scale, scale_at(row, move.row, v), sizeof(scale));
      kernels.dequantise(values, scale, move.out + wide_offset(move, i, v), move.row.width);
    }
  }
}

}  // namespace kvroof
