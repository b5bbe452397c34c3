// SPDX-License-Identifier: Apache-2.0
#include "backends/host/buffer.h"

#include <string>
#include <utility>

namespace kvroof::host {
namespace {

Status check(const BufferSpec& spec, const os::Budget& budget) {
  if (spec.bytes == 0) return {Code::invalid, "a buffer needs at least one byte"};
  // Rounding up is only safe below the limit, which is far from 2^64.
  if (spec.bytes > budget.limit()) {
    return {Code::no_memory, std::to_string(spec.bytes) + " bytes exceed the " +
                                 std::to_string(budget.limit()) +
                                 " that this device gives out of that kind"};
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<HostBuffer>> HostBuffer::allocate(const void* owner, const BufferSpec& spec,
                                                         os::Budget& budget, OnFree on_free) {
  if (Status status = check(spec, budget); !status.ok()) return status;
  const std::uint64_t taken = os::mapped_bytes(spec.bytes);
  if (!budget.take(taken)) {
    return Status{Code::no_memory, std::to_string(spec.bytes) + " bytes exceed the " +
                                       std::to_string(budget.left()) +
                                       " that are left: free something first"};
  }
  auto mapping = os::Mapping::create(spec.bytes, spec.numa_node);
  if (!mapping) {
    budget.give(taken);
    return mapping.status();
  }
  std::unique_ptr<HostBuffer> buffer(new HostBuffer(owner));
  buffer->mapping_ = std::move(*mapping);
  buffer->data_ = buffer->mapping_->data();
  buffer->budget_ = &budget;
  buffer->on_free_ = std::move(on_free);
  buffer->facts_.bytes = spec.bytes;
  buffer->lock_and_look(spec.kind);
  return buffer;
}

Result<std::unique_ptr<HostBuffer>> HostBuffer::adopt(const void* owner, void* host,
                                                      std::uint64_t bytes) {
  if (host == nullptr || bytes == 0) {
    return Status{Code::invalid, "adopt needs an address and at least one byte"};
  }
  std::unique_ptr<HostBuffer> buffer(new HostBuffer(owner));
  buffer->data_ = static_cast<std::byte*>(host);
  buffer->facts_.bytes = bytes;
  buffer->lock_and_look(MemoryKind::pinned);
  return buffer;
}

void HostBuffer::lock_and_look(MemoryKind wanted) {
  facts_.kind = wanted;
  if (wanted == MemoryKind::pinned) {
    lock_ = std::make_unique<os::PageLock>(data_, facts_.bytes);
    if (!lock_->held()) facts_.kind = MemoryKind::pageable;
  }
  facts_.numa_node = os::node_of(data_, facts_.bytes);
  facts_.page_bytes = os::page_bytes_of(data_);
}

HostBuffer::~HostBuffer() {
  if (on_free_) on_free_(data_, facts_.bytes);
  if (budget_ == nullptr) return;
  lock_.reset();
  mapping_.reset();
  budget_->give(os::mapped_bytes(facts_.bytes));
}

std::span<std::byte> HostBuffer::host() noexcept {
  if (facts_.kind == MemoryKind::device) return {};
  return {data_, facts_.bytes};
}

}  // namespace kvroof::host
