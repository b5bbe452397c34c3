// SPDX-License-Identifier: Apache-2.0
#include "suites/harness/sample_record.h"

#include "suites/harness/grid.h"
#include "suites/harness/provenance.h"
#include "suites/harness/system_info.h"

namespace kvroof {
namespace {

ModelShape sample_shape() {
  ModelShape shape;
  shape.name = "small";
  shape.source = "https://example.org/config.json";
  shape.layers = 2;
  shape.hidden = shape.intermediate = 64;
  shape.heads = 4;
  shape.kv_heads = 2;
  shape.head_dim = 16;
  shape.vocab = 100;
  shape.rope_scaling = RopeScaling{};
  shape.other_rope = "yarn";
  shape.experts = Experts{.total = 8, .active = 2, .shared = 1, .intermediate = 32};
  shape.latent =
      LatentAttention{.q_rank = 0, .kv_rank = 32, .nope_dim = 16, .rope_dim = 8, .v_dim = 16};
  shape.kinds = {{128, false}, {0, true}};
  shape.ranks = 2;
  return shape;
}

Case sample_case(PlanKind plan, Outcome outcome, std::string reason) {
  Case one;
  one.suite = "ttft";
  one.params = case_params(GridPoint{.context_tokens = 1024}, plan);
  one.params["layers"] = 2;
  one.params["data"] = "on";
  one.outcome = outcome;
  one.reason = std::move(reason);
  return one;
}

}  // namespace

RunHeader sample_header() {
  DeviceInfo device;
  device.backend = "sim";
  device.name = "small";
  device.link_now = LinkState{4, 16};
  device.profile_json = R"({"name": "small"})";
  RunHeader header;
  header.tool = tool_json();
  header.argv = {"kvroof", "run", "ttft", "--out", "not utf-8: \xff"};
  header.started = "2026-01-08T09:30:00Z";
  header.seed = 7;
  static const Json kSystem = system_json(read_system_info());  // the load changes between two
  header.system = kSystem;
  header.device = device_json(device);
  header.model = model_json(sample_shape(), 16);
  header.part = {{"suites", {"ttft"}}, {"grid", grid_json({})}, {"draws", 200}};
  return header;
}

std::vector<Case> sample_cases() {
  Case recompute = sample_case(PlanKind::recompute, Outcome::ok, "");
  const Metric slow = measured_metric("s", {0.30, 0.31, 0.32, 0.29, 0.28}, true);
  Metric scaled = scaled_metric(slow, 8, "s");
  scaled.basis = Basis::calibrated;
  recompute.metrics = {{"ttft", slow}, {"ttft_scaled", scaled}};

  Case copy = sample_case(PlanKind::copy, Outcome::ok, "");
  const Metric fast = measured_metric("s", {0.10, 0.11, 0.12, 0.09, 0.08}, false);
  copy.tier = {{"bytes", 1 << 20},         {"pinned_bytes", 0},
               {"page_bytes", 4096},       {"slabs", 1},
               {"registrations", 1},       {"numa_node", -1},
               {"numa_node_asked", 0},     {"chunks", 8},
               {"bookkeeping_bytes", 512}, {"chunks_stored", 8},
               {"chunks_evicted", 0},      {"chunks_refused", 0},
               {"chunks_unwanted", 0},     {"chunks_handed_over", 0}};
  const Json seconds = {{"dma", {0.002}}, {"staged", {0.001}}};
  copy.copy_auto = {{"source", "calibration"},
                    {"choices",
                     {{{"direction", "load"},
                       {"group", 0},
                       {"region_bytes", 4096},
                       {"regions", 64},
                       {"taken", "dma"},
                       {"fastest", "staged"},
                       {"worse_by", 1.0},
                       {"regions_timed", 64},
                       {"seconds", seconds}},
                      {{"direction", "offload"},
                       {"group", 0},
                       {"region_bytes", 4096},
                       {"regions", 64},
                       {"taken", "dma"},
                       {"unchecked", "there was no memory for it"}}}},
                    {"unavailable", {{"batch", "this device has no batched copies"}}},
                    {"table",
                     {{{"region_bytes", 1024},
                       {"regions", 16},
                       {"offload_seconds", {{"dma", 0.001}}},
                       {"load_seconds", {{"dma", 0.001}}}}}}};
  copy.tier["warnings"] = {"none of it is pinned"};
  copy.metrics = {{"ttft", fast},
                  {"speedup", ratio_metric(slow, fast)},
                  {"load_time", measured_metric("s", {0.05}, false)},
                  {"mfu", modelled_metric("ratio", 0.5, {0.4, 0.5, 0.6})},
                  {"bytes_loaded", count_metric("bytes", 1 << 20)}};

  return {recompute, copy, sample_case(PlanKind::hybrid, Outcome::skipped, "it was not asked for"),
          sample_case(PlanKind::copy, Outcome::failed, "the copy failed"),
          sample_case(PlanKind::copy, Outcome::incorrect, "the logits differ")};
}

std::vector<Answer> sample_answers() {
  Answer found;
  found.question = "crossover";
  found.params = group_params(GridPoint{.context_tokens = 1024});
  found.params.erase("context_tokens");
  found.params["margin"] = 1.1;
  found.verdict = Verdict::found;
  found.context_tokens = 2048;
  found.ci95 = Bounds{1024, 4096};
  Answer below = found, inside = found, none = found;
  below.verdict = Verdict::below_smallest;
  inside.verdict = Verdict::inside_interval;
  none.verdict = Verdict::none_in_range;
  below.ci95 = inside.ci95 = none.ci95 = std::nullopt;
  none.context_tokens = std::nullopt;
  return {found, below, inside, none};
}

}  // namespace kvroof
