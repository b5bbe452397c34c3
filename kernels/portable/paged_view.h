// SPDX-License-Identifier: Apache-2.0
// A PagedKv whose spans have become addresses in this process.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "backends/api/dtype.h"
#include "backends/api/ops.h"
#include "backends/api/status.h"

namespace kvroof {

struct PagedView {
  std::byte* cache = nullptr;
  const std::int32_t* block_table = nullptr;
  PagedKv shape{};  // strides and counts; its spans' buffers are not used

  std::byte* key(std::uint64_t position, std::uint32_t head) const {
    return cache + shape.k_offset + element(position, head);
  }
  std::byte* value(std::uint64_t position, std::uint32_t head) const {
    return cache + shape.v_offset + element(position, head);
  }

  // Of a quantised cache's vectors.
  float* key_scale(std::uint64_t position, std::uint32_t head) const {
    return scale(shape.k_scale_offset, position, head);
  }
  float* value_scale(std::uint64_t position, std::uint32_t head) const {
    return scale(shape.v_scale_offset, position, head);
  }

  // Fails where the table names, for the first `tokens` positions of any of `sequences`, a block
  // outside the cache.
  Status check_table(std::uint64_t tokens, std::uint32_t sequences = 1) const;

  // With the table's row of a sequence, each of `tokens` positions.
  PagedView of_sequence(std::uint64_t index, std::uint64_t tokens) const {
    PagedView own = *this;
    own.block_table += index * blocks_of(tokens);
    return own;
  }

 private:
  std::uint64_t blocks_of(std::uint64_t tokens) const {
    return (tokens + shape.block_tokens - 1) / shape.block_tokens;
  }
  std::uint64_t block_start(std::uint64_t position) const {
    const auto block = static_cast<std::uint64_t>(block_table[position / shape.block_tokens]);
    return block * shape.block_stride;
  }
  std::uint64_t element(std::uint64_t position, std::uint32_t head) const {
    return block_start(position) + position % shape.block_tokens * shape.token_stride +
           head * shape.head_stride;
  }
  float* scale(std::uint64_t first, std::uint64_t position, std::uint32_t head) const {
    return reinterpret_cast<float*>(cache + first + block_start(position) +
                                    position % shape.block_tokens * shape.scale_token_stride +
                                    head * shape.scale_head_stride);
  }
};

}  // namespace kvroof
