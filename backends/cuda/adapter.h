// SPDX-License-Identifier: Apache-2.0
// NVIDIA GPUs through CUDA's driver API. It copies and has no kernels yet, so that users can't name
// it: the registry does not know it.
#pragma once
#include <memory>
#include <string>

#include "backends/api/device.h"

namespace kvroof::cuda {

struct Options {
  std::string library = "libcuda.so.1";
  int ordinal = 0;
  std::uint64_t piece_bytes = 1ull << 30;  // of one registration of host memory
};

// `unsupported` where there is no such driver or device, with what was looked for.
Result<std::unique_ptr<Device>> open(const Options& options);

}  // namespace kvroof::cuda
