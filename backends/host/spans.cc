// SPDX-License-Identifier: Apache-2.0
#include "backends/host/spans.h"

#include <string>

namespace kvroof::host {

Status check_span(const Span& span) {
  if (dynamic_cast<HostBuffer*>(span.buffer) == nullptr) {
    return {Code::invalid, "a span must name a buffer of this device"};
  }
  if (span.bytes == 0) return {Code::invalid, "a span must have at least one byte"};
  const std::uint64_t bytes = span.buffer->facts().bytes;
  if (span.offset > bytes || span.bytes > bytes - span.offset) {
    return {Code::invalid, "a span of " + std::to_string(span.bytes) + " bytes at " +
                               std::to_string(span.offset) + " reaches outside its buffer of " +
                               std::to_string(bytes) + " bytes"};
  }
  return {};
}

}  // namespace kvroof::host
