// SPDX-License-Identifier: Apache-2.0
// From spans to addresses on this adapter's own memory.
#pragma once
#include "backends/api/buffer.h"
#include "backends/host/buffer.h"

namespace kvroof::host {

// Null for a span without a buffer; the span was checked (backends/queues/body_check.h).
inline std::byte* address(const Span& span) {
  return span.buffer ? static_cast<HostBuffer*>(span.buffer)->data() + span.offset : nullptr;
}

}  // namespace kvroof::host
