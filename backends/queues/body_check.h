// SPDX-License-Identifier: Apache-2.0
// What a submission must look like before it is enqueued: spans inside buffers of this device,
// regions along the queue's direction, shapes that their spans can hold.
#pragma once
#include <cstdint>

#include "backends/api/queue.h"
#include "backends/api/status.h"

namespace kvroof::queues {

struct BodyRules {
  std::uint64_t max_regions;
  const void* owner;         // the device that its OwnedBuffers name
  bool sums_copies = false;  // as in DeviceInfo
};

// Fences are the queue's to check, and what else a device can't do although it is well formed.
Status check_body(const Work& work, QueueKind kind, const BodyRules& rules);

}  // namespace kvroof::queues
