// SPDX-License-Identifier: Apache-2.0
// What a submission must look like before it is priced: spans inside buffers of this device,
// regions along the queue's direction, shapes that their spans can hold.
#pragma once
#include "backends/api/queue.h"
#include "backends/api/status.h"

namespace kvroof::sim {

// `owner` is the device. Fences are the queue's to check.
Status check_body(const Work& work, QueueKind kind, const void* owner);

// Split off for its length: the shapes of ops.
Status check_op(const Op& op, const void* owner);

// `invalid` unless `span` lies in a buffer of the device and holds `least` bytes. `what` names it.
Status check_span(const Span& span, std::uint64_t least, const void* owner, const char* what);

}  // namespace kvroof::sim
