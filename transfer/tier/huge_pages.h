// SPDX-License-Identifier: Apache-2.0
// Vectors on huge pages where the system gives them: tables of a million slots are read at random,
// and on small pages each read walks the page table as well.
#pragma once
#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <vector>

namespace kvroof {

inline constexpr std::size_t kHugePage = std::size_t{2} << 20;

// What is smaller than a huge page is allocated as usual.
template <class T>
struct HugePageAllocator {
  using value_type = T;
  HugePageAllocator() = default;
  template <class U>
  HugePageAllocator(const HugePageAllocator<U>&) {}  // NOLINT: an allocator converts

  T* allocate(std::size_t count) {
    if (count > std::size_t(-1) / 2 / sizeof(T)) throw std::bad_alloc();
    const std::size_t bytes = count * sizeof(T);
    void* const memory = ::operator new(bytes, alignment(bytes));
    if (bytes >= kHugePage) (void)madvise(memory, bytes, MADV_HUGEPAGE);  // small pages do too
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t count) {
    ::operator delete(memory, alignment(count * sizeof(T)));
  }
  bool operator==(const HugePageAllocator&) const { return true; }

 private:
  static std::align_val_t alignment(std::size_t bytes) {
    return std::align_val_t{bytes < kHugePage ? 64 : kHugePage};
  }
};

template <class T>
using HugeVector = std::vector<T, HugePageAllocator<T>>;

}  // namespace kvroof
