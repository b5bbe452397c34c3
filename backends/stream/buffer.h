// SPDX-License-Identifier: Apache-2.0
// Device memory, and host memory registered with the driver in pieces below its ceiling.
#pragma once
#include <memory>
#include <vector>

#include "backends/os/memory.h"
#include "backends/queues/owned_buffer.h"
#include "backends/stream/driver.h"

namespace kvroof::stream {

// What buffers draw on; outlives them.
struct Memory {
  Driver& driver;
  os::Budget device, host;
  std::uint64_t piece_bytes;  // of one registration, a multiple of a page's
};

class StreamBuffer final : public queues::OwnedBuffer {
 public:
  // Host memory that the driver does not register says that it is pageable. `no_memory` leaves
  // nothing taken.
  static Result<std::unique_ptr<StreamBuffer>> allocate(const void* owner, Memory& memory,
                                                        const BufferSpec& spec);
  static Result<std::unique_ptr<StreamBuffer>> adopt(const void* owner, Memory& memory, void* host,
                                                     std::uint64_t bytes);
  ~StreamBuffer() override;

  const BufferFacts& facts() const noexcept override { return facts_; }
  std::span<std::byte> host() noexcept override;

  Address address() const { return address_; }

  // Bytes from `offset` on, at most `bytes`, that lie in the registration that holds `offset`.
  std::uint64_t in_one_piece(std::uint64_t offset, std::uint64_t bytes) const;

 private:
  StreamBuffer(const void* owner, Memory& memory, std::uint64_t bytes);
  Status take_device();
  Status take_host(const BufferSpec& spec);
  void pin();
  std::uint64_t piece_end(std::uint64_t offset) const;

  Memory& memory_;
  BufferFacts facts_;
  Address address_ = 0;
  os::Budget* budget_ = nullptr;          // that it has drawn on
  std::unique_ptr<os::Mapping> mapping_;  // of host memory of its own
  std::vector<void*> pinned_;             // the registrations' addresses
};

inline StreamBuffer& of(const Span& span) { return *static_cast<StreamBuffer*>(span.buffer); }

}  // namespace kvroof::stream
