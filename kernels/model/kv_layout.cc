// SPDX-License-Identifier: Apache-2.0
#include "kernels/model/kv_layout.h"

#include <map>

namespace kvroof {

std::vector<KvGroup> kv_groups(const ModelShape& shape) {
  std::map<std::uint32_t, KvGroup> by_window;
  for (std::uint32_t i = 0; i < shape.layers; ++i) {
    const std::uint32_t window = shape.kind(i).window;
    KvGroup& group = by_window[window];
    group.window = window;
    group.layers.push_back(i);
  }
  std::vector<KvGroup> groups;
  for (auto& [window, group] : by_window) groups.push_back(std::move(group));
  return groups;
}

std::vector<KvPlace> kv_places(const ModelShape& shape) {
  std::vector<KvPlace> places(shape.layers);
  const std::vector<KvGroup> groups = kv_groups(shape);
  for (std::uint32_t g = 0; g < groups.size(); ++g) {
    for (std::uint32_t i = 0; i < groups[g].layers.size(); ++i) {
      places[groups[g].layers[i]] = {g, i};
    }
  }
  return places;
}

std::uint64_t KvLayout::plane_bytes() const {
  return std::uint64_t{block_tokens} * kv_heads * head_dim * bytes_of(dtype);
}

std::uint64_t KvLayout::region_offset(std::uint32_t block, std::uint32_t index) const {
  if (layout == Layout::block_first) return block * block_bytes();
  return (std::uint64_t{index} * blocks + block) * region_bytes();
}

PagedKv KvLayout::paged(std::uint32_t layer) const {
  const bool by_block = layout == Layout::block_first, packed = order == KvOrder::packed;
  const std::uint64_t vector = head_dim * bytes_of(dtype), beside = packed ? planes : 1;
  const std::uint64_t plane_stride = by_block ? plane_bytes() : blocks * plane_bytes();
  PagedKv kv{};
  kv.k_offset = std::uint64_t{planes} * layer * plane_stride;
  kv.v_offset = kv.k_offset + (planes - 1) * (packed ? vector : plane_stride);
  kv.block_stride = by_block ? block_bytes() : region_bytes();
  kv.token_stride = order == KvOrder::hnd ? vector : kv_heads * beside * vector;
  kv.head_stride = order == KvOrder::hnd ? block_tokens * vector : beside * vector;
  kv.block_tokens = block_tokens;
  kv.kv_heads = kv_heads;
  kv.head_dim = head_dim;
  kv.dtype = dtype;
  return kv;
}

KvLayout make_kv_layout(const ModelShape& shape, const KvGroup& group, DType dtype, Layout layout,
                        std::uint32_t block_tokens, std::uint32_t blocks) {
  KvLayout kv{layout,         dtype,          static_cast<std::uint32_t>(group.layers.size()),
              shape.kv_heads, shape.head_dim, block_tokens,
              blocks};
  kv.window = group.window;
  if (shape.latent) {
    kv.planes = kv.kv_heads = 1;
    kv.head_dim = shape.latent->kv_rank + shape.latent->rope_dim;
  }
  return kv;
}

KvLayout make_kv_layout(const ModelShape& shape, DType dtype, Layout layout,
                        std::uint32_t block_tokens, std::uint32_t blocks) {
  return make_kv_layout(shape, kv_groups(shape).front(), dtype, layout, block_tokens, blocks);
}

}  // namespace kvroof
