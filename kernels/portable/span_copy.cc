// SPDX-License-Identifier: Apache-2.0
// Specification: for (span) memcpy(span.to, span.from, span.bytes).
#include "kernels/portable/span_copy.h"

#include <algorithm>
#include <cstring>

namespace kvroof {
namespace {

// Up to the first one core is done before a team has woken; the second is one core's share at once.
constexpr std::uint64_t kOneCoreBytes = 256 << 10, kPartBytes = 256 << 10;

// Of the spans' bytes one after the other, those from `begin` to `end`.
void copy_part(std::span<const SpanCopy> spans, std::uint64_t begin, std::uint64_t end) {
  std::uint64_t first = 0;  // the span's
  for (const SpanCopy& span : spans) {
    const std::uint64_t from = std::max(begin, first), to = std::min(end, first + span.bytes);
    if (from < to) std::memcpy(span.to + (from - first), span.from + (from - first), to - from);
    first += span.bytes;
  }
}

}  // namespace

void copy_spans(std::span<const SpanCopy> spans) {
  std::uint64_t total = 0;
  for (const SpanCopy& span : spans) total += span.bytes;
  if (total <= kOneCoreBytes) return copy_part(spans, 0, total);
#pragma omp parallel for schedule(static)
  for (std::uint64_t part = 0; part < (total + kPartBytes - 1) / kPartBytes; ++part) {
    copy_part(spans, part * kPartBytes, std::min(total, (part + 1) * kPartBytes));
  }
}

}  // namespace kvroof
