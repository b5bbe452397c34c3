// SPDX-License-Identifier: Apache-2.0
#include "backends/host/buffer.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <vector>

namespace kvroof::host {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;

class BufferTest : public ::testing::Test {
 protected:
  os::Budget budget_{16 * kMiB};
};

TEST_F(BufferTest, DeviceMemoryHasNoHostView) {
  auto buffer = HostBuffer::allocate(this, {MemoryKind::device, kMiB}, budget_, {});
  ASSERT_TRUE(buffer);
  EXPECT_TRUE((*buffer)->host().empty());
  EXPECT_NE((*buffer)->data(), nullptr);
  EXPECT_EQ((*buffer)->facts().kind, MemoryKind::device);
}

TEST_F(BufferTest, PinnedSaysSoOnlyWhereThePagesAreLocked) {
  auto buffer = HostBuffer::allocate(this, {MemoryKind::pinned, 3 * kMiB}, budget_, {});
  ASSERT_TRUE(buffer);
  std::vector<std::byte> probe(3 * kMiB);
  const bool lockable = mlock(probe.data(), probe.size()) == 0;
  if (lockable) munlock(probe.data(), probe.size());
  EXPECT_EQ((*buffer)->facts().kind, lockable ? MemoryKind::pinned : MemoryKind::pageable);
  EXPECT_EQ((*buffer)->host().size(), 3 * kMiB);
}

TEST_F(BufferTest, TheBudgetIsDrawnAndReturned) {
  {
    auto first = HostBuffer::allocate(this, {MemoryKind::device, 15 * kMiB}, budget_, {});
    ASSERT_TRUE(first);
    EXPECT_EQ(HostBuffer::allocate(this, {MemoryKind::device, kMiB}, budget_, {}).code(),
              Code::no_memory);
  }
  EXPECT_EQ(budget_.left(), budget_.limit());
}

TEST_F(BufferTest, WhatCanNeverBeIsRefused) {
  EXPECT_EQ(HostBuffer::allocate(this, {MemoryKind::device, 0}, budget_, {}).code(), Code::invalid);
  EXPECT_EQ(HostBuffer::allocate(this, {MemoryKind::device, UINT64_MAX}, budget_, {}).code(),
            Code::no_memory);
  EXPECT_EQ(HostBuffer::allocate(this, {MemoryKind::device, kMiB, 4096}, budget_, {}).code(),
            Code::invalid);
  EXPECT_EQ(HostBuffer::adopt(this, nullptr, 8).code(), Code::invalid);
}

TEST_F(BufferTest, AdoptedMemoryStaysTheOwners) {
  std::vector<std::byte> mine(8192, std::byte{7});
  {
    auto buffer = HostBuffer::adopt(this, mine.data(), mine.size());
    ASSERT_TRUE(buffer);
    EXPECT_EQ((*buffer)->host().data(), mine.data());
  }
  EXPECT_EQ(mine[8191], std::byte{7});
}

TEST_F(BufferTest, TellsWhoeverAskedBeforeItIsFreed) {
  const std::byte* told = nullptr;
  auto buffer = HostBuffer::allocate(
      this, {MemoryKind::device, kMiB}, budget_,
      [&](const std::byte* data, std::uint64_t bytes) { told = bytes == kMiB ? data : nullptr; });
  ASSERT_TRUE(buffer);
  const std::byte* data = (*buffer)->data();
  *buffer = nullptr;
  EXPECT_EQ(told, data);
}

}  // namespace
}  // namespace kvroof::host
