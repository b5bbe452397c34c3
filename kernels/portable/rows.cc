// SPDX-License-Identifier: Apache-2.0
// Specification: for (i in rows) memcpy(out + i * row_bytes, source + index[i] * row_bytes,
// row_bytes) for gather, and the same with the two offsets exchanged for scatter.
#include "kernels/portable/rows.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace kvroof {
namespace {

// Up to here one core is done before a team has woken.
constexpr std::uint64_t kOneCoreBytes = 256 << 10;

template <class Move>
Status check_index(const Move& move) {
  for (std::uint32_t i = 0; i < move.rows; ++i) {
    const std::int32_t row = move.index[i];
    if (row >= 0 && static_cast<std::uint64_t>(row) < move.limit) continue;
    return {Code::failed, "index " + std::to_string(i) + " is " + std::to_string(row) +
                              ", but there are rows 0 to " + std::to_string(move.limit) +
                              " exclusive"};
  }
  return {};
}

// Each core takes its own vectors of every row, so that two equal indices tear no vector.
template <class Vectors>
void on_all_cores(const NarrowMove& move, Vectors vectors) {
  constexpr std::uint32_t kPart = 64;
  [[maybe_unused]] const bool many = move.rows * move.row.wide_bytes() > kOneCoreBytes;
#pragma omp parallel for schedule(static) if (many)
  for (std::uint32_t part = 0; part < (move.row.vectors + kPart - 1) / kPart; ++part) {
    vectors(move, part * kPart, std::min(move.row.vectors, (part + 1) * kPart));
  }
}

}  // namespace

Status gather_rows(const RowMove& move) {
  if (Status status = check_index(move); !status.ok()) return status;
  [[maybe_unused]] const bool many = move.rows * move.row_bytes > kOneCoreBytes;
#pragma omp parallel for schedule(static) if (many)
  for (std::uint32_t i = 0; i < move.rows; ++i) {
    const auto from = static_cast<std::uint64_t>(move.index[i]);
    std::memcpy(move.out + i * move.row_bytes, move.source + from * move.row_bytes, move.row_bytes);
  }
  return {};
}

// Two equal indices leave either row: one thread then keeps rows whole, and the last wins.
Status scatter_rows(const RowMove& move) {
  if (Status status = check_index(move); !status.ok()) return status;
  for (std::uint32_t i = 0; i < move.rows; ++i) {
    const auto to = static_cast<std::uint64_t>(move.index[i]);
    std::memcpy(move.out + to * move.row_bytes, move.source + i * move.row_bytes, move.row_bytes);
  }
  return {};
}

Status quantise_rows(const NarrowMove& move) {
  if (Status status = check_index(move); !status.ok()) return status;
  on_all_cores(move, quantise_vectors);
  return {};
}

Status dequantise_rows(const NarrowMove& move) {
  if (Status status = check_index(move); !status.ok()) return status;
  on_all_cores(move, dequantise_vectors);
  return {};
}

// Without an index there is nothing in it that could be outside.
Status checksum_rows(const RowSums& sums) {
  if (sums.index != nullptr) {
    if (Status status = check_index(sums); !status.ok()) return status;
  }
  const std::uint64_t parts = std::uint64_t{sums.rows} * sums.parts;
  [[maybe_unused]] const bool many = sums.rows * sums.row_bytes > kOneCoreBytes;
#pragma omp parallel for schedule(static) if (many)
  for (std::uint64_t i = 0; i < parts; ++i) checksum_parts(sums, i, i + 1);
  return {};
}

}  // namespace kvroof
