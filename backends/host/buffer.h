// SPDX-License-Identifier: Apache-2.0
// Plain memory that plays device, pinned or pageable memory.
#pragma once
#include <functional>
#include <memory>

#include "backends/os/memory.h"
#include "backends/queues/owned_buffer.h"

namespace kvroof::host {

class HostBuffer final : public queues::OwnedBuffer {
 public:
  // `on_free` is told the bytes that are going away, before they do.
  using OnFree = std::function<void(const std::byte* data, std::uint64_t bytes)>;

  // Of the device `owner`. Draws on `budget` until it is destroyed; `no_memory` leaves nothing
  // taken.
  static Result<std::unique_ptr<HostBuffer>> allocate(const void* owner, const BufferSpec& spec,
                                                      os::Budget& budget, OnFree on_free);
  static Result<std::unique_ptr<HostBuffer>> adopt(const void* owner, void* host,
                                                   std::uint64_t bytes);
  ~HostBuffer() override;

  const BufferFacts& facts() const noexcept override { return facts_; }
  std::span<std::byte> host() noexcept override;

  // Where the bytes are, device memory included: for this adapter's own threads.
  std::byte* data() const noexcept { return data_; }

 private:
  explicit HostBuffer(const void* owner) : OwnedBuffer(owner) {}
  void lock_and_look(MemoryKind wanted);

  BufferFacts facts_;
  std::byte* data_ = nullptr;
  os::Budget* budget_ = nullptr;
  OnFree on_free_;
  std::unique_ptr<os::Mapping> mapping_;  // null where adopted
  std::unique_ptr<os::PageLock> lock_;    // goes before the mapping it locks
};

}  // namespace kvroof::host
