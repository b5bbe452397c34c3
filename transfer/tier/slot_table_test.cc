// SPDX-License-Identifier: Apache-2.0
#include "transfer/tier/slot_table.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

namespace kvroof {
namespace {

// Keys whose low bits collide (16 homes for up to 64 entries), checked against std::map after each
// step: a gap closed wrongly after an erase loses an entry sooner or later. All are looked up at
// once too, which must find the same.
TEST(SlotTable, AgreesWithAMapUnderCollisionsAndErasure) {
  constexpr std::uint32_t kSlots = 64;
  SlotTable table(kSlots);
  std::map<ChunkKey, SlotId> model;
  std::vector<SlotId> free(kSlots);
  for (SlotId slot = 0; slot < kSlots; ++slot) free[slot] = slot;
  std::mt19937 random(7);
  for (int step = 0; step < 20000; ++step) {
    const ChunkKey key{random() % 16 + 120, random() % 16};  // some runs wrap around the end
    const auto at = model.find(key);
    if (at != model.end()) {
      ASSERT_EQ(table.find(key), at->second);
      table.erase(at->second);
      free.push_back(at->second);
      model.erase(at);
    } else if (!free.empty()) {
      ASSERT_EQ(table.find(key), kNoSlot);
      table.insert(key, free.back());
      model[key] = free.back();
      free.pop_back();
    }
    std::vector<ChunkKey> keys;
    for (const auto& [known, slot] : model) keys.push_back(known);
    keys.push_back({random() % 16 + 120, 99});
    std::vector<SlotId> found(keys.size());
    table.find(keys, found);
    ASSERT_EQ(found.back(), kNoSlot);
    for (std::size_t i = 0; i + 1 < keys.size(); ++i) {
      ASSERT_EQ(table.find(keys[i]), model.at(keys[i])) << step;
      ASSERT_EQ(found[i], model.at(keys[i])) << step;
    }
  }
}

TEST(SlotTable, KeysThatDifferInOneHalfOnlyAreDifferent) {
  SlotTable table(4);
  table.insert({1, 2}, 0);
  EXPECT_EQ(table.find({1, 3}), kNoSlot);
  EXPECT_EQ(table.find({2, 2}), kNoSlot);
  EXPECT_EQ(table.find({1 + (1ull << 32), 2}), kNoSlot) << "with the same tag";
  EXPECT_EQ(table.find({1, 2}), 0u);
}

TEST(SlotTable, FindingNoKeysTouchesNothing) {
  const SlotTable table(1);
  table.find(std::span<const ChunkKey>(), std::span<SlotId>());
  EXPECT_EQ(table.find({1, 1}), kNoSlot);
}

}  // namespace
}  // namespace kvroof
