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
  const WaitUntil& wait;
  OpLane& lane;
  std::uint32_t tokens;
  bool outside_layers = true;

  bool gather = false;  // ops are kept until flush()
  std::vector<Op> kept = {};

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
