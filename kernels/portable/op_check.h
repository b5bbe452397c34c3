// SPDX-License-Identifier: Apache-2.0
// Whether an op's spans can hold its shape: what every adapter must refuse before it runs anything.
#pragma once
#include "backends/api/ops.h"
#include "backends/api/status.h"

namespace kvroof {

// `invalid`, naming the op, the span and the bytes it needs, for a missing buffer, a span outside
// its buffer, too short or misaligned to its elements, and for shapes that make no sense (nothing
// to do, heads that do not divide, an odd head_dim to rotate). Reads no contents: table and index
// entries are checked when the op runs.
Status check_op(const Op& op);

}  // namespace kvroof
