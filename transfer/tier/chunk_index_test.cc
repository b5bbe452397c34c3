// SPDX-License-Identifier: Apache-2.0
#include "transfer/tier/chunk_index.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace kvroof {
namespace {

// Keys whose low bits collide (16 homes for up to 64 entries), checked against std::map after each
// step: a gap closed wrongly after an erase loses an entry sooner or later.
TEST(ChunkIndex, AgreesWithAMapUnderCollisionsAndErasure) {
  constexpr std::uint32_t kCapacity = 64;
  ChunkIndex index(kCapacity);
  std::map<ChunkKey, SlotId> model;
  std::mt19937 random(7);
  for (SlotId step = 0; step < 20000; ++step) {
    const ChunkKey key{random() % 16 + 120, random() % 16};  // some runs wrap around the end
    const auto at = model.find(key);
    if (at != model.end()) {
      ASSERT_EQ(index.find(key), at->second);
      index.erase(key);
      model.erase(at);
    } else if (model.size() < kCapacity) {
      ASSERT_EQ(index.find(key), kNoSlot);
      index.insert(key, step);
      model[key] = step;
    }
    for (const auto& [known, slot] : model) ASSERT_EQ(index.find(known), slot) << step;
  }
}

TEST(ChunkIndex, KeysThatDifferInOneHalfOnlyAreDifferent) {
  ChunkIndex index(4);
  index.insert({1, 2}, 0);
  EXPECT_EQ(index.find({1, 3}), kNoSlot);
  EXPECT_EQ(index.find({2, 2}), kNoSlot);
  EXPECT_EQ(index.find({1, 2}), 0u);
}

}  // namespace
}  // namespace kvroof
