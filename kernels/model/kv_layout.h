// SPDX-License-Identifier: Apache-2.0
// Where a block of KV lies in the accelerator's cache: the one place that turns (layout, layer,
// block) into byte offsets, for the ops that read it and the engine that copies it.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "backends/api/ops.h"
#include "kernels/model/model_shape.h"

namespace kvroof {

// block_first: one region a block, layer after layer inside it. layer_first: each layer's K and V
// are arrays of their own, so a block is 2 * layers regions (packed: one array, layers regions).
enum class Layout : std::uint8_t { block_first, layer_first };

constexpr std::string_view name(Layout layout) {
  return layout == Layout::block_first ? "block_first" : "layer_first";
}

// Order inside one layer of a block. nhd: K [token][kv head][head_dim], then V likewise; hnd:
// [kv head][token][head_dim]; packed: K and V of a head side by side, [token][kv
// head][2][head_dim]. At two KV heads packed has the shape of another order: only the name tells
// them apart.
//
// Of quantised KV each contiguous array of vectors (a layer's K, its V, or in packed both, of one
// block) is followed by as many f32 scales in the same order, one a vector: they are part of the
// block and of its regions, so that nothing can move values without them.
enum class KvOrder : std::uint8_t { nhd, hnd, packed };

constexpr std::string_view name(KvOrder order) {
  constexpr std::string_view kNames[] = {"nhd", "hnd", "packed"};
  return kNames[static_cast<std::size_t>(order)];
}

// Layers that keep their KV alike, in a cache of their own: those of one window.
struct KvGroup {
  std::uint32_t window = 0;  // 0: they keep all of it
  std::vector<std::uint32_t> layers;
};

// Of every window that the model has, the smallest (that is, none) first.
std::vector<KvGroup> kv_groups(const ModelShape& shape);

// Where a layer keeps its KV: in which group, and the how manieth of that it is.
struct KvPlace {
  std::uint32_t group = 0, layer = 0;
};
std::vector<KvPlace> kv_places(const ModelShape& shape);  // one a layer

struct KvLayout {
  Layout layout = Layout::block_first;
  DType dtype = DType::bf16;
  std::uint32_t layers = 0, kv_heads = 0, head_dim = 0, block_tokens = 16;
  std::uint32_t blocks = 0;  // physical blocks in the cache
  std::uint32_t planes = 2;  // K and V; 1: latents, which are both
  std::uint32_t window = 0;  // of the layers
  KvOrder order = KvOrder::nhd;

  std::uint64_t vector_bytes() const { return head_dim * bytes_of(dtype); }  // without its scale
  // K (or V) of one layer of one block: block_tokens * kv_heads vectors and their scales.
  std::uint64_t plane_bytes() const {
    return plane_vectors() * (vector_bytes() + scale_bytes_of(dtype));
  }
  std::uint64_t block_bytes() const { return std::uint64_t{planes} * layers * plane_bytes(); }
  std::uint64_t cache_bytes() const { return blocks * block_bytes(); }
  std::uint32_t regions_per_block() const {
    if (layout == Layout::block_first) return 1;
    return order == KvOrder::packed ? layers : planes * layers;
  }
  std::uint64_t region_bytes() const { return block_bytes() / regions_per_block(); }
  // Of one layer of a block, where it has regions of its own: layer l's are those from l times as
  // many.
  std::uint32_t regions_per_layer() const { return regions_per_block() / layers; }
  bool layers_apart() const { return layout == Layout::layer_first || layers == 1; }

  // Offset of region `index` of physical block `block` in the cache. In a host chunk the regions of
  // a block follow one another in index order, whatever the device's layout.
  std::uint64_t region_offset(std::uint32_t block, std::uint32_t index) const;

  // Strides for the ops, of the layout's own layers: `cache` and `block_table` are filled in by the
  // caller.
  PagedKv paged(std::uint32_t layer) const;

 private:
  std::uint64_t plane_vectors() const { return std::uint64_t{block_tokens} * kv_heads; }
};

KvLayout make_kv_layout(const ModelShape& shape, const KvGroup& group, DType dtype, Layout layout,
                        std::uint32_t block_tokens, std::uint32_t blocks);

// Of the first group, which of most models is the only one.
KvLayout make_kv_layout(const ModelShape& shape, DType dtype, Layout layout,
                        std::uint32_t block_tokens, std::uint32_t blocks);

}  // namespace kvroof
