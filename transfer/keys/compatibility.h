// SPDX-License-Identifier: Apache-2.0
// Everything, besides the tokens, that the bytes of a KV chunk depend on. Two caches whose records
// differ in any field must never exchange chunks, even where their blocks have equal sizes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "backends/api/dtype.h"
#include "kernels/model/kv_layout.h"
#include "kernels/model/model_shape.h"
#include "transfer/keys/key_hash.h"
#include "transfer/tier/stored_form.h"

namespace kvroof {

// Whether a token's values depend on what else was in its batch.
enum class Numerics : std::uint8_t { fastest, batch_invariant };

// A new field, here or in what it holds, goes into compatibility.cc too, which does not compile
// otherwise, and into record_flips.cc, whose test fails otherwise.
struct CompatibilityRecord {
  std::uint32_t format_version = 1;  // of the chunk's own byte order in the tier
  ModelShape shape;                  // name, heads, rope, windows, sinks, tensor-parallel size, ...
  std::uint32_t tensor_parallel_rank = 0;
  std::string revision;  // of the weights
  std::string weights;   // how they are held: "bf16", "awq-int4", "random seed 1"
  std::string adapter;   // a LoRA's name and revision; empty: none
  DType compute_dtype = DType::bf16;
  std::string attention;  // kernel and configuration, where values differ by it
  Numerics numerics = Numerics::fastest;
  KvLayout kv;                        // all of it but the number of `blocks`
  std::string kv_scales;              // where quantised values keep their scales; empty: none
  std::vector<std::uint32_t> layers;  // those of the shape that the layout's layers are
  std::uint32_t blocks_per_chunk = 1;
  DType stored_dtype = DType::bf16;  // of a chunk in the tier, which may be narrower than the cache
  std::string stored_scales;
  std::string tenant_salt;  // tenants with different salts share nothing
};

// The fields that a shape and what is stored of it determine; the rest stay at their defaults.
CompatibilityRecord make_record(const ModelShape& shape, const StoredForm& form,
                                std::uint32_t blocks_per_chunk);

// Every field, in order, as length and bytes: no two different records encode alike. What an empty
// optional would hold is there too, as a default.
std::vector<std::byte> encode(const CompatibilityRecord& record);

// Of the encoding: what keys under this hash chain from. Tenants that share a tier need a hash with
// a secret; with the fast one a salt separates them from accidents, not from each other.
Digest128 digest(const CompatibilityRecord& record, const KeyHash& hash = {});

}  // namespace kvroof
