// SPDX-License-Identifier: Apache-2.0
#include "kernels/model/kv_layout.h"

namespace kvroof {

std::uint64_t KvLayout::plane_bytes() const {
  return std::uint64_t{block_tokens} * kv_heads * head_dim * bytes_of(dtype);
}

std::uint64_t KvLayout::region_offset(std::uint32_t block, std::uint32_t index) const {
  if (layout == Layout::block_first) return block * block_bytes();
  return (std::uint64_t{index} * blocks + block) * plane_bytes();
}

PagedKv KvLayout::paged(std::uint32_t layer) const {
  const bool by_block = layout == Layout::block_first;
  const std::uint64_t plane_stride = by_block ? plane_bytes() : blocks * plane_bytes();
  PagedKv kv{};
  kv.k_offset = 2ull * layer * plane_stride;
  kv.v_offset = kv.k_offset + plane_stride;
  kv.block_stride = by_block ? block_bytes() : plane_bytes();
  kv.token_stride = std::uint64_t{kv_heads} * head_dim * bytes_of(dtype);
  kv.head_stride = head_dim * bytes_of(dtype);
  kv.block_tokens = block_tokens;
  kv.kv_heads = kv_heads;
  kv.head_dim = head_dim;
  kv.dtype = dtype;
  return kv;
}

KvLayout make_kv_layout(const ModelShape& shape, DType dtype, Layout layout,
                        std::uint32_t block_tokens, std::uint32_t blocks) {
  return {layout, dtype, shape.layers, shape.kv_heads, shape.head_dim, block_tokens, blocks};
}

}  // namespace kvroof
