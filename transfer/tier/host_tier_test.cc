// SPDX-License-Identifier: Apache-2.0
#include "transfer/tier/host_tier.h"

#include <gtest/gtest.h>

#include <set>

#include "backends/conformance/null_device.h"
#include "backends/faults/faulty_device.h"

namespace kvroof {
namespace {

constexpr std::uint64_t kChunk = 4096;

ChunkKey key(std::uint64_t i) { return {i * 0x9e3779b97f4a7c15, i}; }

struct HostTierTest : testing::Test {
  HostTier make(std::uint64_t chunks) {
    auto tier = HostTier::create(*device, kChunk, chunks * kChunk, true);
    EXPECT_TRUE(tier.ok());
    return std::move(*tier);
  }

  static SlotId put(HostTier& tier, std::uint64_t i) {
    const SlotId slot = tier.reserve(key(i));
    if (slot == kNoSlot) return slot;
    tier.commit(slot);
    tier.release(slot);
    return slot;
  }

  std::unique_ptr<Device> device = make_null_device();
};

TEST_F(HostTierTest, AReservedChunkIsInvisibleUntilCommitted) {
  HostTier tier = make(2);
  const SlotId slot = tier.reserve(key(1));
  EXPECT_EQ(tier.find(key(1)), slot);
  EXPECT_FALSE(tier.visible(slot));
  tier.commit(slot);
  EXPECT_TRUE(tier.visible(slot));
}

TEST_F(HostTierTest, AnAbandonedChunkIsGoneAndItsSlotFree) {
  HostTier tier = make(1);
  tier.abandon(tier.reserve(key(1)));
  EXPECT_EQ(tier.find(key(1)), kNoSlot);
  EXPECT_NE(tier.reserve(key(2)), kNoSlot);
  EXPECT_EQ(tier.evictions(), 0u);
}

TEST_F(HostTierTest, TheLeastRecentlyReleasedChunkIsEvicted) {
  HostTier tier = make(3);
  for (std::uint64_t i = 1; i <= 3; ++i) put(tier, i);
  tier.acquire(tier.find(key(1)));  // used again: now 2 is the oldest
  tier.release(tier.find(key(1)));
  put(tier, 4);
  EXPECT_EQ(tier.find(key(2)), kNoSlot);
  put(tier, 5);
  EXPECT_EQ(tier.find(key(3)), kNoSlot);
  EXPECT_NE(tier.find(key(1)), kNoSlot);
  EXPECT_EQ(tier.evictions(), 2u);
}

TEST_F(HostTierTest, ReferencedAndReservedChunksAreNeverEvicted) {
  HostTier tier = make(2);
  put(tier, 1);
  tier.acquire(tier.find(key(1)));
  tier.acquire(tier.find(key(1)));
  tier.release(tier.find(key(1)));  // one reference left
  const SlotId reserved = tier.reserve(key(2));
  EXPECT_EQ(tier.reserve(key(3)), kNoSlot);
  EXPECT_EQ(tier.find(key(3)), kNoSlot);
  tier.commit(reserved);
  EXPECT_EQ(tier.reserve(key(3)), kNoSlot);
  tier.release(tier.find(key(1)));
  EXPECT_NE(tier.reserve(key(3)), kNoSlot);
  EXPECT_EQ(tier.find(key(1)), kNoSlot);
  EXPECT_NE(tier.find(key(2)), kNoSlot);
}

TEST_F(HostTierTest, SlotsAreWholeChunksThatDoNotOverlap) {
  auto tier = HostTier::create(*device, kChunk, 3 * kChunk + kChunk - 1, true);
  ASSERT_TRUE(tier.ok());
  EXPECT_EQ(tier->facts().chunks, 3u);
  EXPECT_EQ(tier->facts().bytes, 3 * kChunk);
  std::set<std::uint64_t> offsets;
  for (SlotId slot = 0; slot < 3; ++slot) offsets.insert(tier->span(slot).offset);
  EXPECT_EQ(offsets, (std::set<std::uint64_t>{0, kChunk, 2 * kChunk}));
}

// 3 GiB in chunks of 0.75 GiB: only one fits a slab, since no registration exceeds 1 GiB.
TEST_F(HostTierTest, SlabsStayBelowOneGibibyte) {
  constexpr std::uint64_t kBig = 3ull << 28;
  auto tier = HostTier::create(*device, kBig, 4 * kBig, true);
  ASSERT_TRUE(tier.ok());
  EXPECT_EQ(tier->facts().slabs, 4u);
  std::set<Buffer*> buffers;
  for (SlotId slot = 0; slot < 4; ++slot) {
    EXPECT_LE(tier->span(slot).offset + kBig, tier->span(slot).buffer->facts().bytes);
    EXPECT_LE(tier->span(slot).buffer->facts().bytes, 1ull << 30);
    buffers.insert(tier->span(slot).buffer);
  }
  EXPECT_EQ(buffers.size(), 4u);
}

TEST_F(HostTierTest, ATierBelowOneChunkIsInvalid) {
  EXPECT_EQ(HostTier::create(*device, kChunk, kChunk - 1, true).code(), Code::invalid);
  EXPECT_EQ(HostTier::create(*device, 0, kChunk, true).code(), Code::invalid);
}

TEST_F(HostTierTest, FactsAreSummedAsObtained) {
  const HostTier tier = make(4);
  const HostTierFacts& facts = tier.facts();
  EXPECT_EQ(facts.chunk_bytes, kChunk);
  EXPECT_EQ(facts.pinned_bytes, 4 * kChunk);
  EXPECT_EQ(facts.registrations, 1u);
  EXPECT_EQ(facts.page_bytes, 4096u);
  EXPECT_TRUE(facts.backed);
}

TEST_F(HostTierTest, PinnedMemoryThatIsNotIsTold) {
  FaultyDevice faulty(make_null_device(), {.pageable = true});
  auto tier = HostTier::create(faulty, kChunk, 4 * kChunk, true);
  ASSERT_TRUE(tier.ok());
  EXPECT_EQ(tier->facts().pinned_bytes, 0u);
  EXPECT_EQ(tier->facts().bytes, 4 * kChunk);
}

}  // namespace
}  // namespace kvroof
