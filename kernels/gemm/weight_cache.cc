// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm/weight_cache.h"

#include <algorithm>

namespace kvroof {

std::shared_ptr<std::byte> WeightCache::get(const Key& key, std::uint64_t packed_bytes,
                                            const std::function<void(std::byte* to)>& pack) {
  std::unique_lock lock(mutex_);
  if (const auto found = entries_.find(key); found != entries_.end()) return found->second.packed;
  packing_ = &key;
  spoilt_ = false;
  lock.unlock();
  std::shared_ptr<std::byte> packed = allocate_(packed_bytes);
  if (packed) pack(packed.get());
  lock.lock();
  packing_ = nullptr;
  if (packed && !spoilt_) {
    entries_[key] = {packed, packed_bytes};
    longest_ = std::max(longest_, key.bytes);
  }
  return packed;
}

void WeightCache::forget(const std::byte* data, std::uint64_t bytes) {
  std::lock_guard lock(mutex_);
  if (packing_ != nullptr && packing_->overlaps(data, bytes)) spoilt_ = true;
  const auto begin = reinterpret_cast<std::uintptr_t>(data);
  const auto from = begin > longest_ ? begin - longest_ : 0;
  auto entry = entries_.lower_bound({reinterpret_cast<const std::byte*>(from), 0, {}});
  while (entry != entries_.end() && entry->first.data < data + bytes) {
    entry = entry->first.overlaps(data, bytes) ? entries_.erase(entry) : std::next(entry);
  }
}

void WeightCache::clear() {
  std::lock_guard lock(mutex_);
  entries_.clear();
}

std::uint64_t WeightCache::bytes() const {
  std::lock_guard lock(mutex_);
  std::uint64_t sum = 0;
  for (const auto& [key, entry] : entries_) sum += entry.bytes;
  return sum;
}

}  // namespace kvroof
