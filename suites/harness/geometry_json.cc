// SPDX-License-Identifier: Apache-2.0
#include "suites/harness/geometry_json.h"

#include <algorithm>

#include "kernels/model/kv_layout.h"

namespace kvroof {
namespace {

Json to_json(const Biases& biases) {
  const auto& [qkv, output, feed_forward] = biases;
  return {{"qkv", qkv}, {"output", output}, {"feed_forward", feed_forward}};
}

Json to_json(const RopeScaling& rope) {
  const auto& [factor, low, high, original] = rope;
  return {{"factor", factor},
          {"low_freq_factor", low},
          {"high_freq_factor", high},
          {"original_max_position", original}};
}

Json to_json(const LatentAttention& latent) {
  const auto& [q_rank, kv_rank, nope_dim, rope_dim, v_dim] = latent;
  return {{"q_rank", q_rank},
          {"kv_rank", kv_rank},
          {"nope_dim", nope_dim},
          {"rope_dim", rope_dim},
          {"v_dim", v_dim}};
}

Json to_json(const Experts& experts, const std::vector<LayerKind>& kinds) {
  const auto& [total, active, shared, intermediate] = experts;
  return {{"total", total},
          {"active", active},
          {"shared", shared},
          {"intermediate", intermediate},
          {"layers", std::ranges::count(kinds, true, &LayerKind::sparse)}};
}

// How many layers have which window, and which window each layer has (0: none).
void add_windows(const ModelShape& shape, Json& json) {
  for (const KvGroup& group : kv_groups(shape)) {
    if (group.window == 0) continue;
    json["windows"].push_back({{"tokens", group.window}, {"layers", group.layers.size()}});
  }
  if (!json.contains("windows")) return;
  for (const LayerKind& kind : shape.kinds) json["layer_windows"].push_back(kind.window);
}

}  // namespace

// The bindings are every member there is: one more does not compile until it is written here.
Json geometry_json(const ModelShape& shape) {
  const auto& [name, source, layers, hidden, heads, kv_heads, head_dim, intermediate, vocab,
               max_position, tied_embeddings, qk_norm, outer_norms, sinks, biases, norm_epsilon,
               rope_theta, rope_scaling, other_rope, experts, latent, kinds, quantization, ranks] =
      shape;
  Json json = {{"name", name},
               {"source", source},
               {"layers", layers},
               {"hidden", hidden},
               {"heads", heads},
               {"kv_heads", kv_heads},
               {"head_dim", head_dim},
               {"intermediate", intermediate},
               {"vocab", vocab},
               {"max_position", max_position},
               {"tied_embeddings", tied_embeddings},
               {"qk_norm", qk_norm},
               {"outer_norms", outer_norms},
               {"sinks", sinks},
               {"biases", to_json(biases)},
               {"norm_epsilon", norm_epsilon},
               {"rope_theta", rope_theta}};
  if (rope_scaling) json["rope_scaling"] = to_json(*rope_scaling);
  if (!other_rope.empty()) json["other_rope"] = other_rope;
  if (experts) json["experts"] = to_json(*experts, kinds);
  if (latent) json["latent_attention"] = to_json(*latent);
  add_windows(shape, json);
  for (const LayerKind& kind : kinds) {
    if (experts) json["sparse_layers"].push_back(kind.sparse);
  }
  if (!quantization.empty()) json["quantization"] = quantization;
  if (ranks > 1) json["ranks"] = ranks;
  return json;
}

}  // namespace kvroof
