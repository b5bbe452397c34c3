// SPDX-License-Identifier: Apache-2.0
// From spans to addresses on this adapter's own memory.
#pragma once
#include "backends/api/buffer.h"
#include "backends/api/status.h"
#include "backends/host/buffer.h"

namespace kvroof::host {

// `invalid` where the span names no buffer, another device's, or bytes outside it.
Status check_span(const Span& span);

// Null for a span without a buffer; the span was checked.
inline std::byte* address(const Span& span) {
  return span.buffer ? static_cast<HostBuffer*>(span.buffer)->data() + span.offset : nullptr;
}

}  // namespace kvroof::host
