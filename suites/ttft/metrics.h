// SPDX-License-Identifier: Apache-2.0
// From what a group's runs saw to the figures of its cases.
#pragma once
#include <vector>

#include "kernels/model/model_shape.h"
#include "suites/harness/record.h"
#include "suites/serving/ceilings.h"
#include "suites/ttft/group_run.h"

namespace kvroof {

// `cases` stand in the order of run.plans. Sets metrics, and the outcome where a run failed or the
// verification found something wrong. `whole`: the model that was cut to fewer layers, or null.
void fill_metrics(const Session& session, const Ceilings& ceilings, const GroupRun& run,
                  const ModelShape* whole, std::vector<Case>& cases);

}  // namespace kvroof
