// SPDX-License-Identifier: Apache-2.0
#include "backends/host/ops.h"

namespace kvroof::host {

Status Ops::check(const Op&) const {
  return {Code::unsupported, "this build of the host adapter copies and fills, but runs no ops"};
}

Status Ops::run(const Op& op) { return check(op); }

void Ops::written(const std::byte*, std::uint64_t) {}

}  // namespace kvroof::host
