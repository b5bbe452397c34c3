// SPDX-License-Identifier: Apache-2.0
#include "transfer/tier/store_policy.h"

#include <algorithm>

namespace kvroof {

StoreGate::StoreGate(StorePolicy policy, std::uint64_t most_noted)
    : policy_(policy), most_noted_(std::max<std::uint64_t>(1, most_noted)) {}

bool StoreGate::wants(const ChunkKey& key, Offer offer) {
  switch (policy_) {
    case StorePolicy::immediate:
      break;
    case StorePolicy::second_use:
      return used_before(key, offer);
    case StorePolicy::on_evict:
      return offer == Offer::evicted;
  }
  return true;
}

bool StoreGate::used_before(const ChunkKey& key, Offer offer) {
  if (offer == Offer::evicted) return false;
  if (noted_.remove(key)) return true;
  noted_.push_newest(key);
  if (noted_.size() > most_noted_) noted_.drop_oldest();
  return false;
}

}  // namespace kvroof
