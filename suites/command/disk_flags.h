// SPDX-License-Identifier: Apache-2.0
// Whether a run can have the disk tier that --disk and --disk-bytes ask for.
#pragma once
#include <span>
#include <string>

#include "kernels/model/model_shape.h"
#include "suites/harness/grid.h"

namespace kvroof {

// `invalid`, here and below, is one sentence with the flag. The two need each other, but for a
// simulated device (`is_virtual`), whose files need not exist; and files hold no tokens to check.
Status check_disk_flags(const std::string& directory, const Grid& grid, bool is_virtual);

// Every bound has room for one chunk's file of its group.
Status check_disk_bounds(const ModelShape& shape, std::span<const ComparisonGroup> groups);

// The directory is fit, and is laid out for a disk tier; its file system has room for the largest
// bound.
Status open_disk_for(const std::string& directory, const Grid& grid);

}  // namespace kvroof
