// SPDX-License-Identifier: Apache-2.0
// Everything, besides the tokens, that the bytes of a KV chunk depend on. Two caches whose records
// differ in any field must never exchange chunks, even where their blocks have equal sizes.
#pragma once
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backends/api/dtype.h"
#include "kernels/model/kv_layout.h"
#include "kernels/model/model_shape.h"

namespace kvroof {

struct Digest128 {
  std::uint64_t low = 0, high = 0;
  auto operator<=>(const Digest128&) const = default;
};

// A new field goes into encode() too: it does not compile otherwise.
struct CompatibilityRecord {
  std::uint32_t format_version = 1;  // of the chunk's own byte order in the tier
  std::string model, revision;
  std::string adapter;  // a LoRA's name and revision; empty: none
  std::string weights;  // how the weights are held: "bf16", "awq-int4", "random seed 1"
  DType kv_dtype = DType::bf16;
  std::string kv_scales;  // where quantised values keep their scales; empty: no scales
  Layout layout = Layout::block_first;
  KvOrder order = KvOrder::nhd;
  std::uint32_t block_tokens = 0, chunk_tokens = 0;
  std::uint32_t layers = 0, kv_heads = 0, head_dim = 0;
  std::uint32_t window = 0;  // attention window in tokens; 0: unlimited
  double rope_theta = 0;
  std::optional<RopeScaling> rope_scaling;
  std::string other_rope;  // another way of stretching positions
  std::uint32_t tensor_parallel_rank = 0, tensor_parallel_size = 1;
  std::string numerics;     // attention kernel and accumulation mode, where results differ by it
  std::string tenant_salt;  // tenants with different salts share nothing
};

// The fields that a shape and a layout determine; the rest stay at their defaults.
CompatibilityRecord make_record(const ModelShape& shape, const KvLayout& kv,
                                std::uint32_t blocks_per_chunk);

// Every field as tag, length, bytes: no two different records encode alike.
std::vector<std::byte> encode(const CompatibilityRecord& record);

// XXH3_128 of the encoding. Not cryptographic: a salt separates tenants, it does not hide them.
Digest128 digest(const CompatibilityRecord& record);

}  // namespace kvroof
