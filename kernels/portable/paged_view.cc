// SPDX-License-Identifier: Apache-2.0
#include "kernels/portable/paged_view.h"

#include <algorithm>

namespace kvroof {
namespace {

using Wide = unsigned __int128;

Wide last_of(const PagedKv& kv, std::uint64_t token_stride, std::uint64_t head_stride) {
  return static_cast<Wide>(kv.block_tokens - 1) * token_stride +
         static_cast<Wide>(kv.kv_heads - 1) * head_stride;
}

// From the start of a block to behind the last element, or scale, of its last token and head.
Wide block_extent(const PagedKv& kv) {
  const Wide values = std::max(kv.k_offset, kv.v_offset) +
                      last_of(kv, kv.token_stride, kv.head_stride) +
                      kv.head_dim * bytes_of(kv.dtype);
  if (!is_quantised(kv.dtype)) return values;
  const Wide scales = std::max(kv.k_scale_offset, kv.v_scale_offset) +
                      last_of(kv, kv.scale_token_stride, kv.scale_head_stride) +
                      scale_bytes_of(kv.dtype);
  return std::max(values, scales);
}

}  // namespace

Status PagedView::check_table(std::uint64_t tokens, std::uint32_t sequences) const {
  const Wide fixed = block_extent(shape);
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
