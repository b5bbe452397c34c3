// SPDX-License-Identifier: Apache-2.0
// Copies spans of bytes by the cores that compute, with ordinary loads and stores: what a copy
// kernel is on a device.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/portable/checksum.h"

namespace kvroof {

struct SpanCopy {
  std::byte* to = nullptr;
  const std::byte* from = nullptr;
  std::uint64_t bytes = 0;
  // XXH3_64 of each part_bytes of `from`, which make it up; null: none is wanted.
  std::uint64_t* sums = nullptr;
  std::uint64_t part_bytes = 0;
};

// Part by part where sums are wanted: each is summed, which brings it into the cache, then copied
// by copy(to, from, bytes).
template <class Copy>
void copy_span(const SpanCopy& span, Copy copy) {
  if (span.sums == nullptr) {
    copy(span.to, span.from, span.bytes);
    return;
  }
  for (std::uint64_t at = 0; at < span.bytes; at += span.part_bytes) {
    span.sums[at / span.part_bytes] = checksum(span.from + at, span.part_bytes);
    copy(span.to + at, span.from + at, span.part_bytes);
  }
}

// What lies between two of its bytes; where sums are wanted, both at whole parts.
inline SpanCopy part_of(const SpanCopy& span, std::uint64_t begin, std::uint64_t end) {
  return {span.to + begin, span.from + begin, end - begin,
          span.sums == nullptr ? nullptr : span.sums + begin / span.part_bytes, span.part_bytes};
}

// About `bytes`, but a whole number of parts where sums are wanted.
inline std::uint64_t whole_parts(const SpanCopy& span, std::uint64_t bytes) {
  if (span.sums == nullptr) return bytes;
  return std::max(bytes / span.part_bytes, std::uint64_t{1}) * span.part_bytes;
}

// No destination overlaps another span.
void copy_spans(std::span<const SpanCopy> spans);

}  // namespace kvroof
