// SPDX-License-Identifier: Apache-2.0
// Ops that move whole rows by index, on all cores. Addresses belong to this process and were
// checked against the shapes (op_check.h). An index out of range fails before anything is written.
#pragma once
#include <cstddef>
#include <cstdint>

#include "backends/api/status.h"
#include "kernels/portable/checksum.h"
#include "kernels/portable/quantised_rows.h"

namespace kvroof {

struct RowMove {
  const std::byte* source;
  const std::int32_t* index;
  std::byte* out;
  std::uint32_t rows;  // entries of index
  std::uint64_t row_bytes;
  std::uint64_t limit;  // rows of the indexed side
};

// out row i = source row index[i]. An embedding is this, with its table as the source.
Status gather_rows(const RowMove& move);

// out row index[i] = source row i.
Status scatter_rows(const RowMove& move);

// The same with rows that become narrow, and wide again.
Status quantise_rows(const NarrowMove& move);
Status dequantise_rows(const NarrowMove& move);

// The checksums of all parts of the rows.
Status checksum_rows(const RowSums& sums);

}  // namespace kvroof
