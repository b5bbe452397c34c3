// SPDX-License-Identifier: Apache-2.0
#include "kernels/portable/paged_view.h"

#include <algorithm>

namespace kvroof {
namespace {

// From the start of a block's K to behind the last element of its last token and head.
unsigned __int128 block_extent(const PagedKv& kv) {
  using Wide = unsigned __int128;
  return static_cast<Wide>(kv.block_tokens - 1) * kv.token_stride +
         static_cast<Wide>(kv.kv_heads - 1) * kv.head_stride + kv.head_dim * bytes_of(kv.dtype);
}

}  // namespace

Status PagedView::check_table(std::uint64_t tokens, std::uint32_t sequences) const {
  using Wide = unsigned __int128;
  const Wide fixed = block_extent(shape) + std::max(shape.k_offset, shape.v_offset);
  const std::uint64_t entries = sequences * blocks_of(tokens);
  for (std::uint64_t i = 0; i < entries; ++i) {
    const std::int32_t block = block_table[i];
    if (block >= 0 && static_cast<Wide>(block) * shape.block_stride + fixed <= shape.cache.bytes) {
      continue;
    }
    return {Code::failed, "block table entry " + std::to_string(i) + " is " +
                              std::to_string(block) + ", which lies outside the cache"};
  }
  return {};
}

}  // namespace kvroof
