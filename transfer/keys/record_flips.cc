// SPDX-License-Identifier: Apache-2.0
#include "transfer/keys/record_flips.h"

#include <optional>

namespace kvroof {
namespace {

using Record = CompatibilityRecord;

template <class T>
T& present(std::optional<T>& value) {
  if (!value) value.emplace();
  return *value;
}

template <class T>
void flip_presence(std::optional<T>& value) {
  if (value) {
    value.reset();
  } else {
    value.emplace();
  }
}

constexpr RecordFlip kFlips[] = {
    {"format_version", [](Record& r) { r.format_version += 1; }},
    {"shape.name", [](Record& r) { r.shape.name += 'x'; }},
    {"shape.source", [](Record& r) { r.shape.source += 'x'; }},
    {"shape.layers", [](Record& r) { r.shape.layers += 1; }},
    {"shape.hidden", [](Record& r) { r.shape.hidden += 1; }},
    {"shape.heads", [](Record& r) { r.shape.heads += 1; }},
    {"shape.kv_heads", [](Record& r) { r.shape.kv_heads += 1; }},
    {"shape.head_dim", [](Record& r) { r.shape.head_dim += 1; }},
    {"shape.intermediate", [](Record& r) { r.shape.intermediate += 1; }},
    {"shape.vocab", [](Record& r) { r.shape.vocab += 1; }},
    {"shape.max_position", [](Record& r) { r.shape.max_position += 1; }},
    {"shape.tied_embeddings",
     [](Record& r) { r.shape.tied_embeddings = !r.shape.tied_embeddings; }},
    {"shape.qk_norm", [](Record& r) { r.shape.qk_norm = !r.shape.qk_norm; }},
    {"shape.outer_norms", [](Record& r) { r.shape.outer_norms = !r.shape.outer_norms; }},
    {"shape.sinks", [](Record& r) { r.shape.sinks = !r.shape.sinks; }},
    {"shape.biases.qkv", [](Record& r) { r.shape.biases.qkv = !r.shape.biases.qkv; }},
    {"shape.biases.output", [](Record& r) { r.shape.biases.output = !r.shape.biases.output; }},
    {"shape.biases.feed_forward",
     [](Record& r) { r.shape.biases.feed_forward = !r.shape.biases.feed_forward; }},
    {"shape.norm_epsilon", [](Record& r) { r.shape.norm_epsilon *= 2; }},
    {"shape.rope_theta", [](Record& r) { r.shape.rope_theta += 1; }},
    {"shape.rope_scaling", [](Record& r) { flip_presence(r.shape.rope_scaling); }},
    {"shape.rope_scaling.factor", [](Record& r) { present(r.shape.rope_scaling).factor += 1; }},
    {"shape.rope_scaling.low_freq_factor",
     [](Record& r) { present(r.shape.rope_scaling).low_freq_factor += 1; }},
    {"shape.rope_scaling.high_freq_factor",
     [](Record& r) { present(r.shape.rope_scaling).high_freq_factor += 1; }},
    {"shape.rope_scaling.original_max_position",
     [](Record& r) { present(r.shape.rope_scaling).original_max_position += 1; }},
    {"shape.other_rope", [](Record& r) { r.shape.other_rope += 'x'; }},
    {"shape.experts", [](Record& r) { flip_presence(r.shape.experts); }},
    {"shape.experts.total", [](Record& r) { present(r.shape.experts).total += 1; }},
    {"shape.experts.active", [](Record& r) { present(r.shape.experts).active += 1; }},
    {"shape.experts.shared", [](Record& r) { present(r.shape.experts).shared += 1; }},
    {"shape.experts.intermediate", [](Record& r) { present(r.shape.experts).intermediate += 1; }},
    {"shape.latent", [](Record& r) { flip_presence(r.shape.latent); }},
    {"shape.latent.q_rank", [](Record& r) { present(r.shape.latent).q_rank += 1; }},
    {"shape.latent.kv_rank", [](Record& r) { present(r.shape.latent).kv_rank += 1; }},
    {"shape.latent.nope_dim", [](Record& r) { present(r.shape.latent).nope_dim += 1; }},
    {"shape.latent.rope_dim", [](Record& r) { present(r.shape.latent).rope_dim += 1; }},
    {"shape.latent.v_dim", [](Record& r) { present(r.shape.latent).v_dim += 1; }},
    {"shape.kinds",
     [](Record& r) {
       r.shape.kinds.push_back({128, true});
     }},
    {"shape.quantization", [](Record& r) { r.shape.quantization += 'x'; }},
    {"shape.ranks", [](Record& r) { r.shape.ranks += 1; }},
    {"tensor_parallel_rank", [](Record& r) { r.tensor_parallel_rank += 1; }},
    {"revision", [](Record& r) { r.revision += 'x'; }},
    {"weights", [](Record& r) { r.weights += 'x'; }},
    {"adapter", [](Record& r) { r.adapter += 'x'; }},
    {"compute_dtype",
     [](Record& r) {
       r.compute_dtype = r.compute_dtype == DType::bf16 ? DType::f32 : DType::bf16;
     }},
    {"attention", [](Record& r) { r.attention += 'x'; }},
    {"numerics",
     [](Record& r) {
       r.numerics = r.numerics == Numerics::fastest ? Numerics::batch_invariant : Numerics::fastest;
     }},
    {"kv.layout",
     [](Record& r) {
       r.kv.layout = r.kv.layout == Layout::block_first ? Layout::layer_first : Layout::block_first;
     }},
    {"kv.dtype",
     [](Record& r) { r.kv.dtype = r.kv.dtype == DType::fp8 ? DType::int8 : DType::fp8; }},
    {"kv.layers", [](Record& r) { r.kv.layers += 1; }},
    {"kv.kv_heads", [](Record& r) { r.kv.kv_heads += 1; }},
    {"kv.head_dim", [](Record& r) { r.kv.head_dim += 1; }},
    {"kv.block_tokens", [](Record& r) { r.kv.block_tokens += 1; }},
    {"kv.planes", [](Record& r) { r.kv.planes += 1; }},
    {"kv.window", [](Record& r) { r.kv.window += 1; }},
    {"kv.order",
     [](Record& r) { r.kv.order = r.kv.order == KvOrder::nhd ? KvOrder::packed : KvOrder::nhd; }},
    {"kv_scales", [](Record& r) { r.kv_scales += 'x'; }},
    {"layers", [](Record& r) { r.layers.push_back(0); }},
    {"blocks_per_chunk", [](Record& r) { r.blocks_per_chunk += 1; }},
    {"stored_dtype",
     [](Record& r) { r.stored_dtype = r.stored_dtype == DType::fp8 ? DType::int8 : DType::fp8; }},
    {"stored_scales", [](Record& r) { r.stored_scales += 'x'; }},
    {"tenant_salt", [](Record& r) { r.tenant_salt += 'x'; }},
};

}  // namespace

std::span<const RecordFlip> record_flips() { return kFlips; }

}  // namespace kvroof
