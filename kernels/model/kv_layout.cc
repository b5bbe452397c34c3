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

std::uint64_t KvLayout::region_offset(std::uint32_t block, std::uint32_t index) const {
  if (layout == Layout::block_first) return block * block_bytes();
  return (std::uint64_t{index} * blocks + block) * region_bytes();
}

PagedKv KvLayout::paged(std::uint32_t layer) const {
  const bool by_block = layout == Layout::block_first, packed = order == KvOrder::packed;
  const std::uint64_t vector = vector_bytes(), scale = scale_bytes_of(dtype);
  const std::uint64_t beside = packed ? planes : 1;
  const std::uint64_t values = beside * plane_vectors() * vector;  // of one array
  // In vectors, from one token or head to the next.
  const std::uint64_t token_step = order == KvOrder::hnd ? 1 : kv_heads * beside;
  const std::uint64_t head_step = order == KvOrder::hnd ? block_tokens : beside;
  const std::uint64_t plane_stride = by_block ? plane_bytes() : blocks * plane_bytes();
  PagedKv kv{};
  kv.k_offset = std::uint64_t{planes} * layer * plane_stride;
  kv.v_offset = kv.k_offset + (planes - 1) * (packed ? vector : plane_stride);
  kv.block_stride = by_block ? block_bytes() : region_bytes();
  kv.token_stride = token_step * vector;
  kv.head_stride = head_step * vector;
  kv.block_tokens = block_tokens;
  kv.kv_heads = kv_heads;
  kv.head_dim = head_dim;
  kv.dtype = dtype;
  kv.k_scale_offset = kv.k_offset + values;
  kv.v_scale_offset = packed ? kv.k_scale_offset + (planes - 1) * scale : kv.v_offset + values;
  kv.scale_token_stride = token_step * scale;
  kv.scale_head_stride = head_step * scale;
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
