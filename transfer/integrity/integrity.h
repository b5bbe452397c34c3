// SPDX-License-Identifier: Apache-2.0
// Which chunks have a checksum, and of what: the XXH3_64 of their parts' XXH3_64s. Parts, so that
// many threads can sum a chunk; the host tier keeps eight bytes a chunk.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "transfer/keys/chunk_key.h"
#include "transfer/tier/stored_form.h"

namespace kvroof {

// sampled: one chunk in sixteen, by its key, so that it is summed whenever it is stored.
enum class Integrity : std::uint8_t { off, sampled, always };

constexpr std::string_view name(Integrity integrity) {
  constexpr std::string_view kNames[] = {"off", "sampled", "always"};
  return kNames[static_cast<std::size_t>(integrity)];
}

bool has_sum(Integrity integrity, const ChunkKey& key);

// How chunks are cut: regions, as they are stored, in halves, and these again, until a part is no
// larger than what stays in a core's first cache while it is summed and copied (or is odd).
struct SumParts {
  std::uint64_t row_bytes = 0;
  std::uint32_t rows_of_block = 0;
  std::uint32_t parts_of_row = 1;

  static SumParts of(const StoredForm& form);
  std::uint64_t part_bytes() const { return row_bytes / parts_of_row; }
  std::uint64_t parts_of_block() const { return std::uint64_t{rows_of_block} * parts_of_row; }
};

// From the checksums of its parts, in the order of its bytes. Never 0, which stands for none.
std::uint64_t sum_of_chunk(std::span<const std::uint64_t> parts);

}  // namespace kvroof
