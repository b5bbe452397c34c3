// SPDX-License-Identifier: Apache-2.0
// Runs the seam's ops on this CPU, one at a time whatever the number of compute queues.
#pragma once
#include <cstddef>
#include <cstdint>

#include "backends/api/ops.h"
#include "backends/api/status.h"

namespace kvroof::host {

class Ops {
 public:
  // What can be told from the op alone: `invalid` for spans too short, `unsupported` for types.
  Status check(const Op& op) const;

  Status run(const Op& op);

  // To be told of every write to device memory that is not an op's, before it happens.
  void written(const std::byte* data, std::uint64_t bytes);
};

}  // namespace kvroof::host
