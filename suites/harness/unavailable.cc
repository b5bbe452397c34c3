// SPDX-License-Identifier: Apache-2.0
#include "suites/harness/unavailable.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace kvroof {
namespace {

struct Row {
  bool (*concerns)(const GridPoint& point, PlanKind plan);
  std::string_view reason;
};

constexpr std::array kRows = {
    Row{[](const GridPoint& point, PlanKind) { return point.live > 0; },
        "this build restores requests on an otherwise idle device: use --live 0"},
    Row{[](const GridPoint& point, PlanKind) {
          return point.kv_dtype == DType::fp8 || point.kv_dtype == DType::int8;
        },
        "this build has no quantised KV cache: use --kv-dtype bf16 or f32"},
    Row{[](const GridPoint& point, PlanKind) { return point.copy == CopyKind::batch; },
        "this build submits one copy a region: use --copy dma instead of batch"},
    Row{[](const GridPoint& point, PlanKind) { return point.copy == CopyKind::kernel; },
        "this build has no copy kernels: use --copy dma instead of kernel"},
    Row{[](const GridPoint& point, PlanKind) { return point.copy == CopyKind::staged; },
        "this build does not gather on the device: use --copy dma instead of staged"},
    Row{[](const GridPoint& point, PlanKind) { return point.pipeline == PipelineKind::layer; },
        "this build loads whole requests, not layer by layer: use --pipeline request"},
};

}  // namespace

std::string_view unavailable(const GridPoint& point, PlanKind plan) {
  for (const Row& row : kRows) {
    if (row.concerns(point, plan)) return row.reason;
  }
  return {};
}

std::string unavailable(const ModelShape& s) {
  const auto windowed = [](const LayerKind& kind) { return kind.window > 0; };
  const char* what = nullptr;
  if (!s.other_rope.empty()) what = "rotary positions of another scaling";
  if (s.outer_norms) what = "norms behind its layers";
  if (s.biases.qkv || s.biases.output || s.biases.feed_forward) what = "biases";
  if (std::any_of(s.kinds.begin(), s.kinds.end(), windowed)) what = "window layers";
  if (s.latent) what = "latent attention";
  if (s.experts) what = "a mixture of experts";
  if (!what) return {};
  return fmt::format("this build counts a model with {}, but does not run it: choose a dense one",
                     what);
}

}  // namespace kvroof
