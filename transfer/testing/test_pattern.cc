// SPDX-License-Identifier: Apache-2.0
#include "transfer/testing/test_pattern.h"

#include <cstring>

namespace kvroof {
namespace {

// Calls visit(byte offset of the element, its id): K and V of each layer, block, token, head and i,
// as the ops that use the cache would find it.
template <class Visit>
void for_each_element(const KvLayout& kv, BlockId block, Visit visit) {
  std::uint32_t id = 0;
  for (std::uint32_t layer = 0; layer < kv.layers; ++layer) {
    const PagedKv at = kv.paged(layer);
    for (const std::uint64_t plane : {at.k_offset, at.v_offset}) {
      for (std::uint32_t token = 0; token < kv.block_tokens; ++token) {
        for (std::uint32_t head = 0; head < kv.kv_heads; ++head) {
          for (std::uint32_t i = 0; i < kv.head_dim; ++i) {
            visit(plane + block * at.block_stride + token * at.token_stride +
                      head * at.head_stride + i * bytes_of(kv.dtype),
                  id++);
          }
        }
      }
    }
  }
}

}  // namespace

std::vector<std::byte> pattern(const KvLayout& kv) {
  std::vector<std::byte> bytes(kv.cache_bytes());
  for (BlockId block = 0; block < kv.blocks; ++block) {
    for_each_element(kv, block, [&](std::uint64_t offset, std::uint32_t id) {
      const std::uint32_t value = block << 16 | id;
      std::memcpy(&bytes[offset], &value, sizeof value);
    });
  }
  return bytes;
}

std::uint32_t mismatches(const KvLayout& kv, const std::vector<std::byte>& bytes, BlockId block,
                         BlockId original) {
  std::uint32_t count = 0;
  for_each_element(kv, block, [&](std::uint64_t offset, std::uint32_t id) {
    std::uint32_t value = 0;
    std::memcpy(&value, &bytes[offset], sizeof value);
    if (value != (original << 16 | id)) ++count;
  });
  return count;
}

}  // namespace kvroof
