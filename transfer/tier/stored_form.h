// SPDX-License-Identifier: Apache-2.0
// How the blocks of a cache lie in the tiers below it: byte for byte, or narrowed on their way down
// and widened on their way up.
#pragma once
#include <cstdint>
#include <optional>

#include "backends/api/ops.h"
#include "backends/api/status.h"
#include "kernels/model/kv_layout.h"

namespace kvroof {

struct StoredForm {
  KvLayout kv;                    // the cache's
  std::optional<DType> narrow{};  // fp8 or int8; none: as the cache has them

  // `invalid`: the cache's values can't be narrowed to that.
  Status check() const;

  DType dtype() const { return narrow.value_or(kv.dtype); }

  // Of a region of a narrowed cache, which becomes one row: all its values, then the scales of its
  // vectors (a token's and head's K, or V).
  NarrowRow row() const {
    const auto vectors = static_cast<std::uint32_t>(kv.region_bytes() / kv.vector_bytes());
    return {.vectors = vectors, .width = kv.head_dim, .wide = kv.dtype, .narrow = *narrow};
  }

  std::uint64_t region_bytes() const { return narrow ? row().narrow_bytes() : kv.region_bytes(); }
  std::uint64_t block_bytes() const { return kv.regions_per_block() * region_bytes(); }
};

}  // namespace kvroof
