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
    auto tier = HostTier::create(*device, {.chunk_bytes = kChunk, .bytes = chunks * kChunk});
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

TEST_F(HostTierTest, UseAccountsForEverySlot) {
  HostTier tier = make(6);
  const SlotId kept = put(tier, 1), dropped = put(tier, 2), held = put(tier, 3);
  put(tier, 4);
  tier.reserve(key(5));
  tier.acquire(held);
  tier.acquire(dropped);
  tier.drop(dropped);
  EXPECT_TRUE(tier.protect(key(1), true).ok());
  const HostTierUse use = tier.use();
  EXPECT_EQ(use.free, 1u);
  EXPECT_EQ(use.reserved, 1u);
  EXPECT_EQ(use.visible, 3u);
  EXPECT_EQ(use.dropped, 1u);
  EXPECT_EQ(use.referenced, 2u);
  EXPECT_TRUE(tier.is_protected(kept));
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
  auto tier = HostTier::create(*device, {.chunk_bytes = kChunk, .bytes = 3 * kChunk + kChunk - 1});
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
  auto tier = HostTier::create(*device, {.chunk_bytes = kBig, .bytes = 4 * kBig});
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
  EXPECT_EQ(HostTier::create(*device, {.chunk_bytes = kChunk, .bytes = kChunk - 1}).code(),
            Code::invalid);
  EXPECT_EQ(HostTier::create(*device, {.chunk_bytes = 0, .bytes = kChunk}).code(), Code::invalid);
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
  auto tier = HostTier::create(faulty, {.chunk_bytes = kChunk, .bytes = 4 * kChunk});
  ASSERT_TRUE(tier.ok());
  EXPECT_EQ(tier->facts().pinned_bytes, 0u);
  EXPECT_EQ(tier->facts().bytes, 4 * kChunk);
}

TEST_F(HostTierTest, SlabsStayBelowWhatTheDeviceRegistersAtOnce) {
  FaultyDevice faulty(make_null_device(), {.max_registration_bytes = 2 * kChunk + 1});
  auto tier = HostTier::create(faulty, {.chunk_bytes = kChunk, .bytes = 5 * kChunk});
  ASSERT_TRUE(tier.ok());
  EXPECT_EQ(tier->facts().slabs, 3u);
  EXPECT_EQ(tier->facts().pinned_bytes, 5 * kChunk);
  EXPECT_EQ(tier->span(4).offset, 0u);
  tier = HostTier::create(faulty, {.chunk_bytes = 3 * kChunk, .bytes = 6 * kChunk});
  ASSERT_TRUE(tier.ok());
  EXPECT_EQ(tier->facts().slabs, 2u) << "no chunk lies in two";
  EXPECT_EQ(tier->facts().pinned_bytes, 0u) << "and it is told that they could not be pinned";
}

TEST_F(HostTierTest, MemoryIsAskedForNearTheDevice) {
  FaultyDevice far(make_null_device(), {.numa_node = 3});
  auto tier = HostTier::create(far, {.chunk_bytes = kChunk, .bytes = kChunk});
  ASSERT_TRUE(tier.ok());
  EXPECT_EQ(tier->facts().numa_node_asked, 3);
  EXPECT_EQ(tier->facts().numa_node, 3);
}

TEST_F(HostTierTest, AChunkCostsLessThan128BytesBesidesItsData) {
  constexpr std::uint32_t kChunks = 1'000'000;
  auto tier = HostTier::create(*device,
                               {.chunk_bytes = kChunk, .bytes = kChunks * kChunk, .backed = false});
  ASSERT_TRUE(tier.ok());
  ASSERT_EQ(tier->facts().chunks, kChunks);
  EXPECT_GE(tier->facts().bookkeeping_bytes, kChunks * (sizeof(Slot) + sizeof(SlotId)));
  EXPECT_LT(tier->facts().bookkeeping_bytes, 128ull * kChunks);
}

TEST_F(HostTierTest, ALookUpEndsAtTheFirstKeyThatIsNotVisible) {
  constexpr std::uint32_t kKeys = 200;  // more than are looked up at once
  HostTier tier = make(kKeys);
  std::vector<ChunkKey> keys;
  for (std::uint64_t i = 0; i < kKeys; ++i) keys.push_back(key(i));
  for (std::uint32_t held = 0; held < kKeys; ++held) {
    ASSERT_EQ(tier.lookup(keys), held);
    const SlotId slot = tier.reserve(keys[held]);
    ASSERT_EQ(tier.lookup(keys), held) << "it is only reserved";
    tier.commit(slot);
    tier.release(slot);
  }
  std::vector<SlotId> slots(kKeys);
  EXPECT_EQ(tier.lookup(keys, slots), kKeys);
  for (std::uint32_t i = 0; i < kKeys; ++i) ASSERT_EQ(slots[i], tier.find(keys[i]));
}

TEST_F(HostTierTest, SlotsReleasedTogetherAreUsedInThatOrder) {
  HostTier tier = make(3);
  std::vector<SlotId> slots;
  for (std::uint64_t i = 1; i <= 2; ++i) slots.push_back(put(tier, i));
  for (const SlotId slot : slots) tier.acquire(slot);
  const SlotId third = tier.reserve(key(3));  // new to the policy, between two that are not
  tier.commit(third);
  const SlotId order[] = {slots[1], kNoSlot, third, slots[0]};
  tier.release(order);
  for (const std::uint64_t gone : {2, 3, 1}) {
    EXPECT_NE(tier.find(key(gone)), kNoSlot);
    put(tier, 10 + gone);
    EXPECT_EQ(tier.find(key(gone)), kNoSlot) << gone;
  }
}

TEST_F(HostTierTest, ADroppedChunkIsGoneAtOnceAndItsSlotWhenNobodyReadsIt) {
  HostTier tier = make(1);
  const SlotId slot = put(tier, 1);
  tier.acquire(slot);
  tier.drop(slot);
  EXPECT_EQ(tier.find(key(1)), kNoSlot);
  EXPECT_EQ(tier.reserve(key(2)), kNoSlot) << "its bytes are still being read";
  tier.release(slot);
  EXPECT_EQ(put(tier, 2), slot);
  EXPECT_EQ(tier.evictions(), 0u);
  tier.drop(slot);
  EXPECT_EQ(put(tier, 1), slot) << "the key may come back";
  EXPECT_NE(tier.find(key(1)), kNoSlot);
}

class ProtectedChunks : public HostTierTest, public testing::WithParamInterface<Eviction> {
 protected:
  HostTier make(std::uint64_t chunks) {
    auto tier = HostTier::create(*device, {.chunk_bytes = kChunk,
                                           .bytes = chunks * kChunk,
                                           .eviction = GetParam(),
                                           .protected_share = 0.3});
    EXPECT_TRUE(tier.ok());
    return std::move(*tier);
  }
};

TEST_P(ProtectedChunks, AreNeverEvictedUntilTheirProtectionEnds) {
  HostTier tier = make(10);
  for (std::uint64_t i = 0; i < 10; ++i) put(tier, i);
  ASSERT_TRUE(tier.protect(key(0), true).ok());
  ASSERT_TRUE(tier.protect(key(5), true).ok());
  ASSERT_TRUE(tier.protect(key(5), true).ok()) << "twice is once";
  EXPECT_EQ(tier.protected_chunks(), 2u);
  for (std::uint64_t i = 100; i < 200; ++i) ASSERT_NE(put(tier, i), kNoSlot);
  EXPECT_NE(tier.find(key(0)), kNoSlot);
  EXPECT_NE(tier.find(key(5)), kNoSlot);
  ASSERT_TRUE(tier.protect(key(0), false).ok());
  ASSERT_TRUE(tier.protect(key(0), false).ok());
  for (std::uint64_t i = 200; i < 300; ++i) {
    const SlotId slot = put(tier, i);
    ASSERT_NE(slot, kNoSlot);
    tier.acquire(slot);  // arc keeps what was used twice from what comes once
    tier.release(slot);
  }
  EXPECT_EQ(tier.find(key(0)), kNoSlot);
  EXPECT_NE(tier.find(key(5)), kNoSlot);
}

TEST_P(ProtectedChunks, AreAShareOfTheTierAtMost) {
  HostTier tier = make(10);
  for (std::uint64_t i = 0; i < 4; ++i) put(tier, i);
  for (std::uint64_t i = 0; i < 3; ++i) ASSERT_TRUE(tier.protect(key(i), true).ok());
  const Status refused = tier.protect(key(3), true);
  EXPECT_EQ(refused.code, Code::no_memory);
  EXPECT_NE(refused.text.find("protects 3 of its 10 chunks"), std::string::npos) << refused.text;
  tier.drop(tier.find(key(1)));  // which ends its protection
  EXPECT_TRUE(tier.protect(key(3), true).ok());
  EXPECT_EQ(tier.protect(key(9), true).code, Code::invalid) << "it isn't there";
  EXPECT_TRUE(tier.protect(key(9), false).ok());
}

INSTANTIATE_TEST_SUITE_P(EachPolicy, ProtectedChunks,
                         testing::Values(Eviction::lru, Eviction::arc, Eviction::s3fifo),
                         [](const auto& param) { return std::string(name(param.param)); });

}  // namespace
}  // namespace kvroof
