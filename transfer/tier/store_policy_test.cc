// SPDX-License-Identifier: Apache-2.0
#include "transfer/tier/store_policy.h"

#include <gtest/gtest.h>

namespace kvroof {
namespace {

ChunkKey key(std::uint64_t i) { return {i, i}; }

TEST(StoreGate, ImmediateStoresWhateverIsOffered) {
  StoreGate gate(StorePolicy::immediate, 4);
  EXPECT_TRUE(gate.wants(key(1), Offer::used));
  EXPECT_TRUE(gate.wants(key(1), Offer::evicted));
  EXPECT_FALSE(gate.is_exclusive());
}

TEST(StoreGate, SecondUseStoresAtEverySecondUse) {
  StoreGate gate(StorePolicy::second_use, 4);
  EXPECT_FALSE(gate.wants(key(1), Offer::used));
  EXPECT_FALSE(gate.wants(key(2), Offer::used));
  EXPECT_FALSE(gate.wants(key(1), Offer::evicted)) << "which is no use";
  EXPECT_TRUE(gate.wants(key(1), Offer::used));
  EXPECT_FALSE(gate.wants(key(1), Offer::used)) << "the tier has evicted it meanwhile";
  EXPECT_FALSE(gate.is_exclusive());
}

TEST(StoreGate, SecondUseForgetsTheOldestOfTooMany) {
  StoreGate gate(StorePolicy::second_use, 2);
  for (std::uint64_t i = 1; i <= 3; ++i) EXPECT_FALSE(gate.wants(key(i), Offer::used));
  EXPECT_TRUE(gate.wants(key(2), Offer::used));
  EXPECT_TRUE(gate.wants(key(3), Offer::used));
  EXPECT_FALSE(gate.wants(key(1), Offer::used));
}

TEST(StoreGate, OnEvictStoresWhatTheAcceleratorEvictsAlone) {
  StoreGate gate(StorePolicy::on_evict, 4);
  EXPECT_FALSE(gate.wants(key(1), Offer::used));
  EXPECT_FALSE(gate.wants(key(1), Offer::used));
  EXPECT_TRUE(gate.wants(key(1), Offer::evicted));
  EXPECT_TRUE(gate.is_exclusive());
}

}  // namespace
}  // namespace kvroof
