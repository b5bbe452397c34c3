// SPDX-License-Identifier: Apache-2.0
#include "transfer/keys/compatibility.h"

#include <optional>
#include <type_traits>
#include <utility>

namespace kvroof {
namespace {

// Bindings name every member there is: one more does not compile until it is written here.
class Encoder {
 public:
  template <class... Fields>
  void put_all(const Fields&... fields) {
    (put(fields), ...);
  }

  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  template <class T>
  requires(std::is_arithmetic_v<T> || std::is_enum_v<T>) void put(const T& value) {
    put_bytes(&value, sizeof value);
  }

  void put(const std::string& text) { put_bytes(text.data(), text.size()); }

  template <class T>
  void put(const std::optional<T>& value) {
    put(value.has_value());
    put(value.value_or(T{}));
  }

  template <class T>
  void put(const std::vector<T>& values) {
    Encoder inner;
    for (const T& value : values) inner.put(value);
    put_bytes(inner.bytes_.data(), inner.bytes_.size());
  }

  void put(const Biases& biases) {
    const auto& [qkv, output, feed_forward] = biases;
    put_all(qkv, output, feed_forward);
  }

  void put(const RopeScaling& scaling) {
    const auto& [factor, low_freq_factor, high_freq_factor, original_max_position] = scaling;
    put_all(factor, low_freq_factor, high_freq_factor, original_max_position);
  }

  void put(const Experts& experts) {
    const auto& [total, active, shared, intermediate] = experts;
    put_all(total, active, shared, intermediate);
  }

  void put(const LatentAttention& latent) {
    const auto& [q_rank, kv_rank, nope_dim, rope_dim, v_dim] = latent;
    put_all(q_rank, kv_rank, nope_dim, rope_dim, v_dim);
  }

  void put(const LayerKind& kind) {
    const auto& [window, sparse] = kind;
    put_all(window, sparse);
  }

  void put(const ModelShape& shape) {
    const auto& [name, source, layers, hidden, heads, kv_heads, head_dim, intermediate, vocab,
                 max_position, tied_embeddings, qk_norm, outer_norms, sinks, biases, norm_epsilon,
                 rope_theta, rope_scaling, other_rope, experts, latent, kinds, quantization,
                 ranks] = shape;
    put_all(name, source, layers, hidden, heads, kv_heads, head_dim, intermediate, vocab,
            max_position, tied_embeddings, qk_norm, outer_norms, sinks, biases, norm_epsilon,
            rope_theta, rope_scaling, other_rope, experts, latent, kinds, quantization, ranks);
  }

  // Caches of other sizes exchange chunks: `blocks` stays out.
  void put(const KvLayout& kv) {
    const auto& [layout, dtype, layers, kv_heads, head_dim, block_tokens, blocks, planes, window,
                 order] = kv;
    put_all(layout, dtype, layers, kv_heads, head_dim, block_tokens, planes, window, order);
  }

  void put_bytes(const void* data, std::uint64_t length) {
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

CompatibilityRecord make_record(const ModelShape& shape, const StoredForm& form,
                                std::uint32_t blocks_per_chunk) {
  CompatibilityRecord record;
  record.shape = shape;
  record.kv = form.kv;
  record.blocks_per_chunk = blocks_per_chunk;
  record.stored_dtype = form.dtype();
  if (is_quantised(form.kv.dtype)) {
    record.kv_scales = record.stored_scales = "f32 a token and head, behind each array of vectors";
  } else if (form.narrow) {
    record.stored_scales = "f32 a token and head, behind each region's values";
  }
  for (const KvGroup& group : kv_groups(shape)) {
    if (group.window == form.kv.window) record.layers = group.layers;
  }
  return record;
}

std::vector<std::byte> encode(const CompatibilityRecord& record) {
  const auto& [format_version, shape, tensor_parallel_rank, revision, weights, adapter,
               compute_dtype, attention, numerics, kv, kv_scales, layers, blocks_per_chunk,
               stored_dtype, stored_scales, tenant_salt] = record;
  Encoder encoder;
  encoder.put_all(format_version, shape, tensor_parallel_rank, revision, weights, adapter,
                  compute_dtype, attention, numerics, kv, kv_scales, layers, blocks_per_chunk,
                  stored_dtype, stored_scales, tenant_salt);
  return encoder.take();
}

Digest128 digest(const CompatibilityRecord& record, const KeyHash& hash) {
  return hash(encode(record));
}

}  // namespace kvroof
