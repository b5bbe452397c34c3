// SPDX-License-Identifier: Apache-2.0
// What checks need of a device, with every unexpected status turned into Broken.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "backends/api/device.h"
#include "backends/conformance/check.h"

namespace kvroof::conformance {

using Bytes = std::vector<std::byte>;

// A pattern without a short period, so that a shifted or repeated copy shows.
Bytes pattern(std::size_t bytes, unsigned seed);

class Rig {
 public:
  explicit Rig(Device& target) : device(target) {}

  std::unique_ptr<Queue> queue(QueueKind kind);
  std::unique_ptr<Buffer> buffer(MemoryKind kind, std::uint64_t bytes);

  Ticket submit(Queue& queue, const Work& work);
  void expect_refused(Queue& queue, const Work& work, Code code, const std::string& what);

  void wait(Point point);
  // True where the point has not completed although the device was given the time to.
  bool still_open(Point point);
  // Everything up to `last`, waited for and reaped.
  std::vector<Completion> drain(Queue& queue, Ticket last);
  Status run(Queue& queue, const Work& work);  // submit, drain, its status

  void write(Buffer& device_buffer, std::uint64_t offset, std::span<const std::byte> bytes);
  Bytes read(Buffer& device_buffer, std::uint64_t offset, std::uint64_t bytes);

  Device& device;
};

// Small enough for any device; more than a page, and not a power of two.
inline constexpr std::uint64_t kBytes = 3 * 4096 + 64;

inline Span all(Buffer& buffer) { return {&buffer, 0, buffer.facts().bytes}; }

}  // namespace kvroof::conformance
