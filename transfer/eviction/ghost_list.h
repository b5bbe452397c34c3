// SPDX-License-Identifier: Apache-2.0
// Keys of chunks that are gone, in the order in which they went.
#pragma once
#include <list>
#include <unordered_map>

#include "transfer/keys/chunk_key.h"

namespace kvroof {

class GhostList {
 public:
  bool contains(const ChunkKey& key) const { return where_.contains(key); }
  std::size_t size() const { return where_.size(); }

  // The key isn't in it.
  void push_newest(const ChunkKey& key) {
    keys_.push_front(key);
    where_.emplace(key, keys_.begin());
  }

  // Whether it was there.
  bool remove(const ChunkKey& key) {
    const auto found = where_.find(key);
    if (found == where_.end()) return false;
    keys_.erase(found->second);
    where_.erase(found);
    return true;
  }

  // There is at least one.
  void drop_oldest() {
    where_.erase(keys_.back());
    keys_.pop_back();
  }

 private:
  struct Hash {  // keys are uniform hashes already
    std::size_t operator()(const ChunkKey& key) const { return key.low; }
  };
  std::list<ChunkKey> keys_;  // newest first
  std::unordered_map<ChunkKey, std::list<ChunkKey>::iterator, Hash> where_;
};

}  // namespace kvroof
