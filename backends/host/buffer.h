// SPDX-License-Identifier: Apache-2.0
// Plain memory that plays device, pinned or pageable memory.
#pragma once
#include <functional>
#include <memory>

#include "backends/api/buffer.h"
#include "backends/host/memory.h"

namespace kvroof::host {

class HostBuffer final : public Buffer {
 public:
  // `on_free` is told the bytes that are going away, before they do.
  using OnFree = std::function<void(const std::byte* data, std::uint64_t bytes)>;

  // Draws on `budget` until it is destroyed; `no_memory` leaves nothing taken.
  static Result<std::unique_ptr<HostBuffer>> allocate(const BufferSpec& spec, Budget& budget,
                                                      OnFree on_free);
  static Result<std::unique_ptr<HostBuffer>> adopt(void* host, std::uint64_t bytes);
  ~HostBuffer() override;

  const BufferFacts& facts() const noexcept override { return facts_; }
  std::span<std::byte> host() noexcept override;

  // Where the bytes are, device memory included: for this adapter's own threads.
  std::byte* data() const noexcept { return data_; }

 private:
  HostBuffer() = default;
  void lock_and_look(MemoryKind wanted);

  BufferFacts facts_;
  std::byte* data_ = nullptr;
  Budget* budget_ = nullptr;
  OnFree on_free_;
  std::unique_ptr<Mapping> mapping_;  // null where adopted
  std::unique_ptr<PageLock> lock_;    // goes before the mapping it locks
};

}  // namespace kvroof::host
