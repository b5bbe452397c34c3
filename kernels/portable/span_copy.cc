// SPDX-License-Identifier: Apache-2.0
// Specification: for (span) memcpy(span.to, span.from, span.bytes).
#include "kernels/portable/span_copy.h"

#include <algorithm>
#include <cstring>

namespace kvroof {
namespace {

// Up to the first one core is done before a team has woken; the second is one core's share at once.
constexpr std::uint64_t kOneCoreBytes = 256 << 10, kPartBytes = 256 << 10;

// Where a summed part straddles, it is whose it begins with.
std::uint64_t at_part(const SpanCopy& span, std::uint64_t at) {
  if (span.sums == nullptr) return at;
  return (at + span.part_bytes - 1) / span.part_bytes * span.part_bytes;
}

// Of the spans' bytes one after the other, those from `begin` to `end`.
void copy_part(std::span<const SpanCopy> spans, std::uint64_t begin, std::uint64_t end) {
  std::uint64_t first = 0;  // the span's
  for (const SpanCopy& span : spans) {
    if (begin < first + span.bytes && end > first) {
      const std::uint64_t from = at_part(span, std::max(begin, first) - first);
      const std::uint64_t to = at_part(span, std::min(end - first, span.bytes));
      copy_span(part_of(span, from, to), std::memcpy);
    }
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
