// SPDX-License-Identifier: Apache-2.0
#include "suites/harness/provenance.h"

#include <algorithm>

#include "git_state.h"
#include "kernels/model/kv_layout.h"

namespace kvroof {
namespace {

Json link_json(const LinkState& link) { return {{"gen", link.generation}, {"width", link.width}}; }

Json peaks_json(const Peaks& peaks) {
  return {{"flops_f32", peaks.flops_f32},
          {"flops_bf16", peaks.flops_bf16},
          {"link_in", peaks.link_in},
          {"link_out", peaks.link_out}};
}

}  // namespace

Json tool_json() {
  Json build = {{"type", KVROOF_BUILD_TYPE}, {"compiler", KVROOF_COMPILER}};
  if (!std::string_view(KVROOF_SANITIZE).empty()) build["sanitizers"] = KVROOF_SANITIZE;
  return {{"version", KVROOF_VERSION},
          {"commit", KVROOF_GIT_COMMIT},
          {"dirty", KVROOF_GIT_DIRTY},
          {"build", build}};
}

Json device_json(const DeviceInfo& info, std::string_view spec) {
  Json json = {{"backend", info.backend},
               {"name", info.name},
               {"driver", info.driver},
               {"bus_id", info.bus_id},
               {"numa_node", info.numa_node},
               {"memory_bytes", info.memory_bytes},
               {"host_memory_bytes", info.host_memory_bytes},
               {"basis", name(info.basis)},
               {"virtual_time", info.virtual_time},
               {"peaks", peaks_json(info.peaks)}};
  if (!spec.empty()) json["spec"] = spec;
  if (!info.bf16_unavailable.empty()) json["bf16_unavailable"] = info.bf16_unavailable;
  if (info.link_now) json["link"]["now"] = link_json(*info.link_now);
  if (info.link_best) json["link"]["best"] = link_json(*info.link_best);
  if (!info.profile_json.empty()) json["profile"] = Json::parse(info.profile_json);
  return json;
}

Json model_json(const ModelShape& shape, std::uint32_t full_layers) {
  Json json = {{"name", shape.name},
               {"source", shape.source},
               {"layers", shape.layers},
               {"hidden", shape.hidden},
               {"heads", shape.heads},
               {"kv_heads", shape.kv_heads},
               {"head_dim", shape.head_dim},
               {"intermediate", shape.intermediate},
               {"vocab", shape.vocab},
               {"max_position", shape.max_position},
               {"tied_embeddings", shape.tied_embeddings},
               {"qk_norm", shape.qk_norm},
               {"norm_epsilon", shape.norm_epsilon},
               {"rope_theta", shape.rope_theta}};
  if (full_layers > 0) json["full_layers"] = full_layers;
  if (shape.ranks > 1) json["ranks"] = shape.ranks;
  if (const auto& e = shape.experts) {
    json["experts"] = {{"total", e->total},
                       {"active", e->active},
                       {"shared", e->shared},
                       {"intermediate", e->intermediate},
                       {"layers", std::ranges::count(shape.kinds, true, &LayerKind::sparse)}};
  }
  if (const auto& a = shape.latent) {
    json["latent_attention"] = {{"q_rank", a->q_rank},
                                {"kv_rank", a->kv_rank},
                                {"nope_dim", a->nope_dim},
                                {"rope_dim", a->rope_dim},
                                {"v_dim", a->v_dim}};
  }
  for (const KvGroup& group : kv_groups(shape)) {
    if (group.window == 0) continue;
    json["windows"].push_back({{"tokens", group.window}, {"layers", group.layers.size()}});
  }
  if (const auto& rope = shape.rope_scaling) {
    json["rope_scaling"] = {{"factor", rope->factor},
                            {"low_freq_factor", rope->low_freq_factor},
                            {"high_freq_factor", rope->high_freq_factor},
                            {"original_max_position", rope->original_max_position}};
  }
  return json;
}

}  // namespace kvroof
