// SPDX-License-Identifier: Apache-2.0
// Anonymous memory, aligned to huge pages and populated, with the facts the kernel reports
// about it; and the budget that device and host allocations are drawn from.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>

#include "backends/api/buffer.h"
#include "backends/api/status.h"

namespace kvroof::os {

inline constexpr std::uint64_t kHugePageBytes = 2ull << 20;

// Bytes that an allocation of `bytes` really takes: whole huge pages from 2 MiB on, else 4 KiB
// ones.
std::uint64_t mapped_bytes(std::uint64_t bytes);

// Bytes of host memory that could be had now without swapping (MemAvailable); 0 where unknown.
std::uint64_t available_memory();

// A populated mapping between two inaccessible guards, so that an overrun faults at once.
class Mapping {
 public:
  // `node` -1: the kernel's choice; `invalid` where there is no such node. Pages are touched here,
  // not in the first copy.
  static Result<std::unique_ptr<Mapping>> create(std::uint64_t bytes, int node);
  ~Mapping();
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  std::byte* data() const { return data_; }

 private:
  Mapping() = default;
  Status reserve(std::uint64_t bytes);
  Status populate(std::uint64_t bytes, int node);

  void* reserved_ = nullptr;
  std::uint64_t reserved_bytes_ = 0;
  std::byte* data_ = nullptr;
};

// Keeps pages in memory for as long as it lives; empty where RLIMIT_MEMLOCK does not allow it.
class PageLock {
 public:
  PageLock() = default;
  PageLock(void* data, std::uint64_t bytes);
  ~PageLock();
  PageLock(const PageLock&) = delete;
  PageLock& operator=(const PageLock&) = delete;

  bool held() const { return data_ != nullptr; }

 private:
  void* data_ = nullptr;
  std::uint64_t bytes_ = 0;
};

// The node that pages all over `bytes` lie on, at most 64 of them, the first and the last included;
// -1: unknown, or they lie on several. `node_at` knows the node of the page at an offset.
int one_node(std::uint64_t bytes, const std::function<int(std::uint64_t offset)>& node_at);
int node_of(const void* data, std::uint64_t bytes);  // the same of memory
std::uint64_t page_bytes_of(const void* data);  // the page size that backs the mapping; 0: unknown

// A ceiling on bytes in use. Safe from any thread.
class Budget {
 public:
  explicit Budget(std::uint64_t limit) : limit_(limit) {}
  bool take(std::uint64_t bytes);
  void give(std::uint64_t bytes);
  std::uint64_t limit() const { return limit_; }
  std::uint64_t left() const;

 private:
  const std::uint64_t limit_;
  mutable std::mutex mutex_;
  std::uint64_t used_ = 0;
};

}  // namespace kvroof::os
