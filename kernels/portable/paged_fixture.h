// SPDX-License-Identifier: Apache-2.0
// For tests: a paged cache with shuffled blocks in any stride order, addressed without the code
// under test.
#pragma once
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "kernels/portable/oracle.h"
#include "kernels/portable/paged_view.h"

namespace kvroof::oracle {

// Inside a block: token or head outermost, or K and V of a head side by side.
enum class Order { nhd, hnd, packed };

// Each layer has an array of its own: all blocks' K, then all blocks' V, or both packed.
enum class Blocks { whole, by_layer };

struct PagedFixture {
  PagedFixture(DType dtype, Order order, std::uint32_t positions, std::uint32_t block_tokens,
               std::uint32_t kv_heads, std::uint32_t head_dim, std::mt19937& random,
               Blocks in = Blocks::whole)
      : cache(dtype, 0) {
    const std::uint64_t element = bytes_of(dtype), plane = block_tokens * kv_heads * head_dim;
    const std::uint32_t used = (positions + block_tokens - 1) / block_tokens, blocks = used + 3;
    table.resize(blocks);
    std::iota(table.begin(), table.end(), 0);
    std::shuffle(table.begin(), table.end(), random);
    table.resize(used);
    const bool packed = order == Order::packed, by_layer = in == Blocks::by_layer;
    const std::uint64_t beside = packed ? 2 : 1, array = blocks * 2 * plane;
    const std::uint64_t first = by_layer ? array : 0;  // behind another layer's
    cache = random_tensor(dtype, first + array, random);
    view.cache = cache.data();
    view.block_table = table.data();
    PagedKv& kv = view.shape;
    kv.cache.bytes = cache.bytes.size();
    kv.k_offset = first * element;
    kv.v_offset = (first + (packed ? head_dim : by_layer ? blocks * plane : plane)) * element;
    kv.block_stride = (by_layer && !packed ? plane : 2 * plane) * element;
    kv.token_stride = (order == Order::hnd ? head_dim : kv_heads * beside * head_dim) * element;
    kv.head_stride = (order == Order::hnd ? block_tokens : beside) * head_dim * element;
    kv.block_tokens = block_tokens, kv.kv_heads = kv_heads, kv.head_dim = head_dim;
    kv.dtype = dtype;
  }

  // Element index into `cache` of K, or of V, as ops.h writes the formula.
  std::size_t index(bool value, std::uint64_t position, std::uint64_t head, std::uint64_t i) const {
    const PagedKv& kv = view.shape;
    const std::uint64_t block = static_cast<std::uint64_t>(table[position / kv.block_tokens]);
    const std::uint64_t at = (value ? kv.v_offset : kv.k_offset) + block * kv.block_stride +
                             position % kv.block_tokens * kv.token_stride + head * kv.head_stride;
    return at / bytes_of(kv.dtype) + i;
  }
  double k(std::uint64_t position, std::uint64_t head, std::uint64_t i) const {
    return cache.at(index(false, position, head, i));
  }
  double v(std::uint64_t position, std::uint64_t head, std::uint64_t i) const {
    return cache.at(index(true, position, head, i));
  }

  Tensor cache;
  std::vector<std::int32_t> table;
  PagedView view;
};

}  // namespace kvroof::oracle
