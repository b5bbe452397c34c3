// SPDX-License-Identifier: Apache-2.0
// XXH3_64 of bytes, by the fastest code for this CPU, and of parts of rows that an index names.
#pragma once
#include <cstddef>
#include <cstdint>

namespace kvroof {

// XXH3_64 with no seed, as xxHash 0.8 defines it.
std::uint64_t checksum(const std::byte* bytes, std::uint64_t count);

struct RowSums {
  const std::byte* source;
  const std::int32_t* index;  // null: row i is the source's row i
  std::uint64_t* out;         // rows * parts
  std::uint32_t rows;
  std::uint64_t row_bytes;
  std::uint32_t parts;  // of each row, equally long
  std::uint64_t limit;  // rows of the source
};

// out[i] = checksum of part i of the rows' parts, one row's after the other's, from `first` to
// `end`. Starts no threads; every index is inside.
void checksum_parts(const RowSums& sums, std::uint64_t first, std::uint64_t end);

}  // namespace kvroof
