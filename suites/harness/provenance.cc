// SPDX-License-Identifier: Apache-2.0
#include "suites/harness/provenance.h"

#include "git_state.h"
#include "suites/harness/geometry_json.h"

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
  Json json = geometry_json(shape);
  if (full_layers > 0) json["full_layers"] = full_layers;
  return json;
}

}  // namespace kvroof
