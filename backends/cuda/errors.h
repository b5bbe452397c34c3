// SPDX-License-Identifier: Apache-2.0
// The one place where CUDA's codes become ours; the driver's own words are kept.
#pragma once
#include <string_view>

#include "backends/cuda/entry_points.h"

namespace kvroof::cuda {

// `doing` names the call ("cuMemAlloc").
Status from_cuda(const EntryPoints& driver, int answer, std::string_view doing);

}  // namespace kvroof::cuda
