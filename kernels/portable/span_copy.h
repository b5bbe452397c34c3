// SPDX-License-Identifier: Apache-2.0
// Copies spans of bytes by the cores that compute, with ordinary loads and stores: what a copy
// kernel is on a device.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace kvroof {

struct SpanCopy {
  std::byte* to = nullptr;
  const std::byte* from = nullptr;
  std::uint64_t bytes = 0;
};

// No destination overlaps another span.
void copy_spans(std::span<const SpanCopy> spans);

}  // namespace kvroof
