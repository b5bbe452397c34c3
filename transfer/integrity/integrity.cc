// SPDX-License-Identifier: Apache-2.0
#include "transfer/integrity/integrity.h"

#include <xxhash.h>

namespace kvroof {
namespace {

constexpr std::uint64_t kMostPartBytes = 16 << 10;  // half of a first-level data cache of 32 KiB
constexpr int kSampleShift = 60;                    // keys whose highest four bits are 0

}  // namespace

bool has_sum(Integrity integrity, const ChunkKey& key) {
  if (integrity == Integrity::sampled) return key.high >> kSampleShift == 0;
  return integrity == Integrity::always;
}

SumParts SumParts::of(const StoredForm& form) {
  SumParts parts{.row_bytes = form.region_bytes(), .rows_of_block = form.kv.regions_per_block()};
  while (parts.part_bytes() > kMostPartBytes && parts.part_bytes() % 2 == 0) {
    parts.parts_of_row *= 2;
  }
  return parts;
}

std::uint64_t sum_of_chunk(std::span<const std::uint64_t> parts) {
  const std::uint64_t sum = XXH3_64bits(parts.data(), parts.size_bytes());
  return sum == 0 ? 1 : sum;
}

}  // namespace kvroof
