// SPDX-License-Identifier: Apache-2.0
// What `--copy auto` goes by: each path timed over a table of region bytes and regions a transfer,
// and the fastest of each cell as a rule of a CopyChoice.
#pragma once
#include <cstdint>
#include <vector>

#include "backends/api/device.h"
#include "suites/serving/path_timer.h"
#include "transfer/lanes/copy_choice.h"

namespace kvroof {

struct CalibrationCell {
  std::uint64_t region_bytes = 0, regions = 0;
  PathTimes times;
};

struct CopyCalibration {
  CopyChoice choice = CopyPath::dma;
  std::vector<CalibrationCell> table;
  bool virtual_time = false;  // timed on a simulator's clock, which goes by its profile
};

// Region sizes from 1 KiB to 4 MiB by factors of 4, transfers of 1, 4 and 16 chunks, up to 32 MiB a
// transfer but the smallest, which is always timed. `regions_per_chunk` of the engines that are to
// follow the choice: what one submission holds. Allocates a cache of its own, and leaves nothing.
// `unsupported` where no path copies both ways.
Result<CopyCalibration> calibrate_copy(Device& device, std::uint32_t regions_per_chunk);

// What auto is before it is known: any path may be taken, so that the memory for all is counted.
CopyChoice any_path();

}  // namespace kvroof
