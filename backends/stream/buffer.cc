// SPDX-License-Identifier: Apache-2.0
#include "backends/stream/buffer.h"

#include <algorithm>
#include <string>

namespace kvroof::stream {
namespace {

constexpr std::uint64_t kPageBytes = 4096;

Status beyond(const os::Budget& budget, std::uint64_t bytes) {
  return {Code::no_memory, std::to_string(bytes) + " bytes exceed the " +
                               std::to_string(budget.left()) +
                               " that are left of that kind; allocate less"};
}

}  // namespace

StreamBuffer::StreamBuffer(const void* owner, Memory& memory, std::uint64_t bytes)
    : OwnedBuffer(owner), memory_(memory) {
  facts_.bytes = bytes;
}

Result<std::unique_ptr<StreamBuffer>> StreamBuffer::allocate(const void* owner, Memory& memory,
                                                             const BufferSpec& spec) {
  if (spec.bytes == 0) return Status{Code::invalid, "a buffer needs at least one byte"};
  std::unique_ptr<StreamBuffer> made(new StreamBuffer(owner, memory, spec.bytes));
  const bool device = spec.kind == MemoryKind::device;
  if (Status status = device ? made->take_device() : made->take_host(spec); !status.ok()) {
    return status;
  }
  return made;
}

Result<std::unique_ptr<StreamBuffer>> StreamBuffer::adopt(const void* owner, Memory& memory,
                                                          void* host, std::uint64_t bytes) {
  if (host == nullptr || bytes == 0) {
    return Status{Code::invalid, "adopt needs an address and at least one byte"};
  }
  std::unique_ptr<StreamBuffer> made(new StreamBuffer(owner, memory, bytes));
  made->address_ = reinterpret_cast<Address>(host);
  made->pin();
  return made;
}

Status StreamBuffer::take_device() {
  if (!memory_.device.take(facts_.bytes)) return beyond(memory_.device, facts_.bytes);
  budget_ = &memory_.device;
  Result<Address> memory = memory_.driver.allocate(facts_.bytes);
  if (!memory) return memory.status();
  address_ = *memory;
  facts_.kind = MemoryKind::device;
  return {};
}

Status StreamBuffer::take_host(const BufferSpec& spec) {
  if (!memory_.host.take(facts_.bytes)) return beyond(memory_.host, facts_.bytes);
  budget_ = &memory_.host;
  auto mapping = os::Mapping::create(facts_.bytes, spec.numa_node);
  if (!mapping) return mapping.status();
  mapping_ = std::move(*mapping);
  address_ = reinterpret_cast<Address>(mapping_->data());
  facts_.kind = MemoryKind::pageable;
  if (spec.kind == MemoryKind::pinned) pin();
  facts_.numa_node = os::node_of(mapping_->data(), facts_.bytes);
  facts_.page_bytes = os::page_bytes_of(mapping_->data());
  return {};
}

// All of it or nothing: what is half registered counts as pageable.
void StreamBuffer::pin() {
  facts_.kind = MemoryKind::pinned;
  for (std::uint64_t at = 0; at < facts_.bytes; at = piece_end(at)) {
    auto* const piece = reinterpret_cast<std::byte*>(address_) + at;
    if (!memory_.driver.pin(piece, std::min(piece_end(at), facts_.bytes) - at).ok()) {
      for (void* held : pinned_) (void)memory_.driver.unpin(held);
      pinned_.clear();
      facts_.kind = MemoryKind::pageable;
      facts_.pieces = 1;
      return;
    }
    pinned_.push_back(piece);
  }
  facts_.pieces = static_cast<std::uint32_t>(pinned_.size());
}

// Pieces end on pages, so that no page is registered twice.
std::uint64_t StreamBuffer::piece_end(std::uint64_t offset) const {
  const std::uint64_t ragged = address_ % kPageBytes;
  return ((offset + ragged) / memory_.piece_bytes + 1) * memory_.piece_bytes - ragged;
}

std::uint64_t StreamBuffer::in_one_piece(std::uint64_t offset, std::uint64_t bytes) const {
  return pinned_.empty() ? bytes : std::min(bytes, piece_end(offset) - offset);
}

StreamBuffer::~StreamBuffer() {
  (void)memory_.driver.use();
  for (void* held : pinned_) (void)memory_.driver.unpin(held);
  if (facts_.kind == MemoryKind::device && address_ != 0) (void)memory_.driver.free(address_);
  mapping_.reset();
  if (budget_ != nullptr) budget_->give(facts_.bytes);
}

std::span<std::byte> StreamBuffer::host() noexcept {
  if (facts_.kind == MemoryKind::device) return {};
  return {reinterpret_cast<std::byte*>(address_), facts_.bytes};
}

}  // namespace kvroof::stream
