// SPDX-License-Identifier: Apache-2.0
// Memory that a device gave out or adopted, with its facts as obtained rather than as asked for.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace kvroof {

enum class MemoryKind : std::uint8_t { device, pinned, pageable };

struct BufferSpec {
  MemoryKind kind = MemoryKind::device;
  std::uint64_t bytes = 0;
  int numa_node = -1;  // -1: wherever the device is nearest
  bool backed = true;  // false: the simulator may keep no contents (data off); others ignore it
};

struct BufferFacts {
  MemoryKind kind = MemoryKind::device;  // what it really is: asked for pinned, it may be pageable
  std::uint64_t bytes = 0;
  int numa_node = -1;            // -1: unknown
  std::uint64_t page_bytes = 0;  // 0: unknown
  std::uint32_t pieces = 1;      // registrations that make it up
  bool backed = true;            // false: no contents exist, so no correctness claim can come of it
};

// Must outlive every ticket that names it. Freed by its destructor.
class Buffer {
 public:
  virtual ~Buffer() = default;
  virtual const BufferFacts& facts() const noexcept = 0;
  // The host's view of the bytes; empty for device memory and where nothing backs the buffer.
  virtual std::span<std::byte> host() noexcept = 0;
};

struct Span {
  Buffer* buffer = nullptr;
  std::uint64_t offset = 0, bytes = 0;
};

}  // namespace kvroof
