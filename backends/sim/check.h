// SPDX-License-Identifier: Apache-2.0
// What a submission must look like before it is priced: spans inside buffers of this device,
// regions along the queue's direction, shapes that their spans can hold.
#pragma once
#include "backends/api/queue.h"
#include "backends/api/status.h"

namespace kvroof::sim {

// `owner` is the device. Fences are the queue's to check.
Status check_body(const Work& work, QueueKind kind, const void* owner);

}  // namespace kvroof::sim
