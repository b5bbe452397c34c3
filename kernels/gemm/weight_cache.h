// SPDX-License-Identifier: Apache-2.0
// Copies of weights in the order that a GEMM prefers, each known by the bytes it was packed from.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace kvroof {

// Memory that counts against the device's for as long as it is held; null where none is left.
using PackAllocator = std::function<std::shared_ptr<std::byte>(std::uint64_t bytes)>;

// get() from one thread at a time, the rest from any. A copy in use outlives its entry.
class WeightCache {
 public:
  struct Key {
    const std::byte* data;
    std::uint64_t bytes;
    std::vector<std::int64_t> format;  // tells apart two packings of the same bytes
    auto operator<=>(const Key&) const = default;

    bool overlaps(const std::byte* other, std::uint64_t other_bytes) const {
      const std::less<const std::byte*> before;
      return before(data, other + other_bytes) && before(other, data + bytes);
    }
  };

  explicit WeightCache(PackAllocator allocate) : allocate_(std::move(allocate)) {}

  // The packed copy, made by `pack` where there is none; null where memory has run out.
  std::shared_ptr<std::byte> get(const Key& key, std::uint64_t packed_bytes,
                                 const std::function<void(std::byte* to)>& pack);

  // Drops what was packed from any of these bytes.
  void forget(const std::byte* data, std::uint64_t bytes);
  void clear();

  std::uint64_t bytes() const;

 private:
  struct Entry {
    std::shared_ptr<std::byte> packed;
    std::uint64_t bytes;
  };

  const PackAllocator allocate_;
  mutable std::mutex mutex_;
  std::map<Key, Entry> entries_;
  std::uint64_t longest_ = 0;     // of any key: how far back an entry that reaches a byte can start
  const Key* packing_ = nullptr;  // being made by get(), outside the lock
  bool spoilt_ = false;           // its source was written meanwhile: use it once, keep it not
};

}  // namespace kvroof
