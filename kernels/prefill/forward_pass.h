// SPDX-License-Identifier: Apache-2.0
// Private to Forward: one step on its way to the lane.
#pragma once
#include <initializer_list>
#include <vector>

#include "kernels/prefill/forward.h"

namespace kvroof {

struct Forward::Pass {
  const Step& step;
  std::span<const PrefillRequest> requests;
  std::span<const Point> fences;
  const FencesOfLayer& of_layer;
  const WaitUntil& wait;
  OpLane& lane;
  std::uint32_t tokens;
  bool outside_layers = true;

  bool gather = false;  // ops are kept until flush()
  std::vector<Op> kept = {};
  std::vector<Point> of_this_layer = {};  // await_layer()'s

  // The lane is in order, so the first op's fences hold the whole step back.
  Status submit(const Op& op) {
    if (gather) {
      kept.push_back(op);
      return {};
    }
    Status status = lane.submit(op, fences, wait, outside_layers);
    fences = {};
    return status;
  }

  // What is submitted next waits for the layer's KV, and what came before it doesn't.
  Status await_layer(std::uint32_t layer) {
    if (!of_layer) return {};
    if (Status status = flush(); !status.ok()) return status;
    auto asked = of_layer(layer);
    if (!asked) return asked.status();
    of_this_layer = std::move(*asked);
    of_this_layer.insert(of_this_layer.end(), fences.begin(), fences.end());
    fences = of_this_layer;
    return {};
  }

  Status submit_all(std::initializer_list<Op> ops) {
    for (const Op& op : ops) {
      if (Status status = submit(op); !status.ok()) return status;
    }
    return {};
  }

  // What was kept, `times` times over.
  Status flush(std::uint32_t times = 1) {
    if (kept.empty()) return {};
    Status status = lane.submit(OpRun{kept, times}, fences, wait, outside_layers);
    fences = {};
    kept.clear();
    return status;
  }
};

}  // namespace kvroof
