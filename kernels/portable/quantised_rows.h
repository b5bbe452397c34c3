// SPDX-License-Identifier: Apache-2.0
// Rows of a Quantise or Dequantise whose spans have become addresses in this process, and were
// checked against the shapes (op_check.h). Starts no threads.
#pragma once
#include <cstddef>
#include <cstdint>

#include "backends/api/ops.h"

namespace kvroof {

struct NarrowMove {
  const std::byte* source;
  const std::int32_t* index;
  std::byte* out;
  std::uint32_t rows;  // entries of index
  NarrowRow row;
  std::uint64_t limit;  // rows of the indexed side; every index is below it
};

// Of each row the vectors from `first` to `end`.
void quantise_vectors(const NarrowMove& move, std::uint32_t first, std::uint32_t end);
void dequantise_vectors(const NarrowMove& move, std::uint32_t first, std::uint32_t end);

}  // namespace kvroof
