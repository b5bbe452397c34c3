// SPDX-License-Identifier: Apache-2.0
#include "suites/command/plan_json.h"

namespace kvroof {
namespace {

Json case_json(const PlannedCase& one, const Ceilings& roofs) {
  Json json = {{"plan", name(one.plan)}};
  json["skipped"] = one.reason.empty() ? Json(nullptr) : Json(one.reason);
  if (!one.reason.empty() || !one.counted) return json;
  json["bytes"] = one.bytes;
  json["flops"] = one.flops;
  if (const auto seconds = least_seconds(one, roofs)) json["least_seconds"] = *seconds;
  return json;
}

}  // namespace

Json plan_json(const Job& job, const RunPlan& plan) {
  Json json = {{"device", job.device_text}, {"model", job.shape.name}};
  json["layers"] = job.shape.layers;
  json["groups"] = Json::array();
  for (const PlannedGroup& group : plan.groups) {
    Json one = {{"suite", group.suite}, {"params", group.params}};
    if (group.roofs.flops > 0) {
      one["compute_ceiling"] = group.roofs.flops;
      one["link_ceiling"] = group.roofs.link_in;
    }
    one["cases"] = Json::array();
    for (const PlannedCase& c : group.plan.cases) one["cases"].push_back(case_json(c, group.roofs));
    json["groups"].push_back(std::move(one));
  }
  json["ceilings_measured"] = plan.measured_roofs;
  if (job.device->info().virtual_time) json["passes"] = plan.passes;
  json["wall_seconds"] = {plan.wall.least, plan.wall.most};
  return json;
}

}  // namespace kvroof
