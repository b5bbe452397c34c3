// SPDX-License-Identifier: Apache-2.0
// What kvroof names but this build cannot run: grid values (one table, a row a value) and models.
#pragma once
#include <string>
#include <string_view>

#include "kernels/model/model_shape.h"
#include "suites/harness/grid.h"

namespace kvroof {

// The reason for which a case is skipped, a sentence; empty where this build runs it.
std::string_view unavailable(const GridPoint& point, PlanKind plan);

// The same for every case of a model that this build counts, but runs nowhere.
std::string unavailable(const ModelShape& shape);

}  // namespace kvroof
