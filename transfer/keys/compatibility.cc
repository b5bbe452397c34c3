// SPDX-License-Identifier: Apache-2.0
#include "transfer/keys/compatibility.h"

#include <xxhash.h>

#include <cstring>
#include <type_traits>

namespace kvroof {
namespace {

class Encoder {
 public:
  // Tags count up from 1 in the order of the fields.
  template <class... Fields>
  void put_all(const Fields&... fields) {
    std::uint8_t tag = 0;
    (put(++tag, fields), ...);
  }

  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  template <class T>
  void put(std::uint8_t tag, const T& value) {
    static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>);
    put_bytes(tag, &value, sizeof value);
  }

  void put(std::uint8_t tag, const std::string& text) { put_bytes(tag, text.data(), text.size()); }

  // Absent is an empty field; present is never empty.
  void put(std::uint8_t tag, const std::optional<RopeScaling>& scaling) {
    Encoder inner;
    if (scaling) {
      const auto& [factor, low_freq_factor, high_freq_factor, original_max_position] = *scaling;
      inner.put_all(factor, low_freq_factor, high_freq_factor, original_max_position);
    }
    put_bytes(tag, inner.bytes_.data(), inner.bytes_.size());
  }

  void put_bytes(std::uint8_t tag, const void* data, std::uint64_t length) {
    append(&tag, sizeof tag);
    append(&length, sizeof length);
    append(data, length);
  }

  void append(const void* data, std::size_t length) {
    const auto* begin = static_cast<const std::byte*>(data);
    bytes_.insert(bytes_.end(), begin, begin + length);
  }

  std::vector<std::byte> bytes_;
};

}  // namespace

CompatibilityRecord make_record(const ModelShape& shape, const KvLayout& kv,
                                std::uint32_t blocks_per_chunk) {
  CompatibilityRecord record;
  record.model = shape.name;
  record.revision = shape.source;
  record.kv_dtype = kv.dtype;
  record.layout = kv.layout;
  record.order = kv.order;
  record.block_tokens = kv.block_tokens;
  record.chunk_tokens = kv.block_tokens * blocks_per_chunk;
  record.layers = kv.layers;
  record.kv_heads = kv.kv_heads;
  record.head_dim = kv.head_dim;
  record.rope_theta = shape.rope_theta;
  record.rope_scaling = shape.rope_scaling;
  record.other_rope = shape.other_rope;
  record.window = kv.window;
  record.tensor_parallel_size = shape.ranks;
  return record;
}

std::vector<std::byte> encode(const CompatibilityRecord& record) {
  const auto& [format_version, model, revision, adapter, weights, kv_dtype, kv_scales, layout,
               order, block_tokens, chunk_tokens, layers, kv_heads, head_dim, window, rope_theta,
               rope_scaling, other_rope, tensor_parallel_rank, tensor_parallel_size, numerics,
               tenant_salt] = record;
  Encoder encoder;
  encoder.put_all(format_version, model, revision, adapter, weights, kv_dtype, kv_scales, layout,
                  order, block_tokens, chunk_tokens, layers, kv_heads, head_dim, window, rope_theta,
                  rope_scaling, other_rope, tensor_parallel_rank, tensor_parallel_size, numerics,
                  tenant_salt);
  return encoder.take();
}

Digest128 digest(const CompatibilityRecord& record) {
  const std::vector<std::byte> bytes = encode(record);
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.low64, hash.high64};
}

}  // namespace kvroof
