// SPDX-License-Identifier: Apache-2.0
// Buffers of the simulator: anonymous mappings, so that untouched pages cost nothing.
#include "backends/sim/buffer.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "backends/os/errors.h"
#include "backends/sim/errors.h"

namespace kvroof::sim {
namespace {

Result<std::byte*> map_zeroed(std::uint64_t bytes) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    return os::from_errno(errno, "mapping " + std::to_string(bytes) + " bytes for a backed buffer");
  }
  return static_cast<std::byte*>(memory);
}

BufferFacts facts_of(const BufferSpec& spec) {
  BufferFacts facts;
  facts.kind = spec.kind;
  facts.bytes = spec.bytes;
  facts.backed = spec.backed;
  if (spec.backed) facts.page_bytes = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return facts;
}

}  // namespace

bool Budget::take(std::uint64_t bytes) {
  std::uint64_t left = left_;
  while (bytes <= left) {
    if (left_.compare_exchange_weak(left, left - bytes)) return true;
  }
  return false;
}

Result<std::unique_ptr<Buffer>> SimBuffer::create(const void* owner, Budget& budget,
                                                  const BufferSpec& spec) {
  if (spec.bytes == 0) return invalid("A buffer needs at least one byte.");
  if (!budget.take(spec.bytes)) {
    return no_memory("Asked for " + std::to_string(spec.bytes) + " bytes of " +
                     (spec.kind == MemoryKind::device ? "device" : "host") + " memory, and " +
                     std::to_string(budget.left()) + " are left; allocate less.");
  }
  std::byte* memory = nullptr;
  if (spec.backed) {
    Result<std::byte*> mapped = map_zeroed(spec.bytes);
    if (!mapped) {
      budget.give_back(spec.bytes);
      return mapped.status();
    }
    memory = *mapped;
  }
  return std::unique_ptr<Buffer>(new SimBuffer(owner, &budget, facts_of(spec), memory));
}

std::unique_ptr<Buffer> SimBuffer::adopt(const void* owner, void* host, std::uint64_t bytes) {
  const BufferSpec spec{.kind = MemoryKind::pinned, .bytes = bytes};
  return std::unique_ptr<Buffer>(
      new SimBuffer(owner, nullptr, facts_of(spec), static_cast<std::byte*>(host)));
}

SimBuffer::~SimBuffer() {
  if (budget_ == nullptr) return;
  if (memory_ != nullptr) munmap(memory_, facts_.bytes);
  budget_->give_back(facts_.bytes);
}

std::span<std::byte> SimBuffer::host() noexcept {
  return facts_.kind == MemoryKind::device ? std::span<std::byte>{} : contents();
}

std::span<std::byte> SimBuffer::contents() {
  return memory_ == nullptr ? std::span<std::byte>{} : std::span(memory_, facts_.bytes);
}

}  // namespace kvroof::sim
