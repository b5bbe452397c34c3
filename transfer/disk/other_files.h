// SPDX-License-Identifier: Apache-2.0
// Chunks' files that are of another size than this tier's, so of other models or cut short: they
// count against the bound, are of no use here, and go before any chunk of ours, the oldest first.
#pragma once
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "transfer/disk/entries.h"

namespace kvroof {

class OtherFiles {
 public:
  // The last written is added first.
  void add(const ChunkFile& file) {
    by_age_.push_back(file.key);
    bytes_of_.emplace(file.key, file.bytes);
    bytes_ += file.bytes;
  }

  // One that is gone, or has become a file of ours.
  void forget(const ChunkKey& key) {
    const auto found = bytes_of_.find(key);
    if (found == bytes_of_.end()) return;
    bytes_ -= found->second;
    bytes_of_.erase(found);
  }

  // Forgets it too; empty where none is left.
  std::optional<ChunkKey> take_oldest() {
    while (!by_age_.empty()) {
      const ChunkKey key = by_age_.back();
      by_age_.pop_back();
      if (!bytes_of_.contains(key)) continue;
      forget(key);
      return key;
    }
    return {};
  }

  std::uint64_t bytes() const { return bytes_; }

 private:
  struct LowBits {
    std::size_t operator()(const ChunkKey& key) const { return key.low; }
  };

  std::vector<ChunkKey> by_age_;
  std::unordered_map<ChunkKey, std::uint64_t, LowBits> bytes_of_;
  std::uint64_t bytes_ = 0;
};

}  // namespace kvroof
