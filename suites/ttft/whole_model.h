// SPDX-License-Identifier: Apache-2.0
// A run of fewer layers, stretched to the whole model: its time inside the layers by their FLOPs,
// its load by the bytes of their KV. What lies outside the layers stays as it is.
#pragma once
#include <optional>

#include "suites/ttft/group_run.h"

namespace kvroof {

struct Stretch {
  double layers = 1, load = 1;  // whole over cut: FLOPs inside the layers, bytes loaded

  double ttft(const Restore& restore) const;  // seconds
};

// Of a plan's runs. Empty where no single factor tells: several requests, which wait for each
// other; hybrid, whose cut falls elsewhere with other layers; a copy on a simulated device in
// layout block_first, where fewer layers are smaller regions at another rate; a copy without any
// layer of one of the model's windows, or without any that has none.
std::optional<Stretch> find_stretch(const Session& session, const RequestBatch& batch,
                                    const PlanRuns& runs, const ModelShape& whole);

}  // namespace kvroof
