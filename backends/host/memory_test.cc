// SPDX-License-Identifier: Apache-2.0
#include "backends/host/memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <vector>

#include "backends/host/adapter.h"
#include "backends/host/buffer.h"

namespace kvroof::host {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;

TEST(Budget, RefusesWhatExceedsItAndTakesItBack) {
  Budget budget(100);
  EXPECT_TRUE(budget.take(60));
  EXPECT_FALSE(budget.take(41));
  EXPECT_TRUE(budget.take(40));
  budget.give(60);
  EXPECT_EQ(budget.left(), 60u);
  EXPECT_FALSE(budget.take(UINT64_MAX));
}

TEST(Mapping, IsZeroedWritableAndAlignedToHugePages) {
  auto mapping = Mapping::create(3 * kMiB, -1);
  ASSERT_TRUE(mapping) << mapping.status().text;
  std::byte* data = (*mapping)->data();
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(data) % kHugePageBytes, 0u);
  EXPECT_TRUE(std::all_of(data, data + 3 * kMiB, [](std::byte b) { return b == std::byte{0}; }));
  data[3 * kMiB - 1] = std::byte{1};
  EXPECT_NE(page_bytes_of(data), 0u);
}

TEST(MappingDeathTest, AnOverrunFaults) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  auto mapping = Mapping::create(4096, -1);
  ASSERT_TRUE(mapping);
  volatile std::byte* past = (*mapping)->data() + 4096;
  EXPECT_DEATH(*past = std::byte{1}, "");
}

class BufferTest : public ::testing::Test {
 protected:
  Budget budget_{16 * kMiB};
};

TEST_F(BufferTest, DeviceMemoryHasNoHostView) {
  auto buffer = HostBuffer::allocate({MemoryKind::device, kMiB}, budget_, {});
  ASSERT_TRUE(buffer);
  EXPECT_TRUE((*buffer)->host().empty());
  EXPECT_NE((*buffer)->data(), nullptr);
  EXPECT_EQ((*buffer)->facts().kind, MemoryKind::device);
}

TEST_F(BufferTest, PinnedSaysSoOnlyWhereThePagesAreLocked) {
  auto buffer = HostBuffer::allocate({MemoryKind::pinned, 3 * kMiB}, budget_, {});
  ASSERT_TRUE(buffer);
  std::vector<std::byte> probe(3 * kMiB);
  const bool lockable = mlock(probe.data(), probe.size()) == 0;
  if (lockable) munlock(probe.data(), probe.size());
  EXPECT_EQ((*buffer)->facts().kind, lockable ? MemoryKind::pinned : MemoryKind::pageable);
  EXPECT_EQ((*buffer)->host().size(), 3 * kMiB);
}

TEST_F(BufferTest, TheBudgetIsDrawnAndReturned) {
  {
    auto first = HostBuffer::allocate({MemoryKind::device, 15 * kMiB}, budget_, {});
    ASSERT_TRUE(first);
    EXPECT_EQ(HostBuffer::allocate({MemoryKind::device, kMiB}, budget_, {}).code(),
              Code::no_memory);
  }
  EXPECT_EQ(budget_.left(), budget_.limit());
}

TEST_F(BufferTest, WhatCanNeverBeIsRefused) {
  EXPECT_EQ(HostBuffer::allocate({MemoryKind::device, 0}, budget_, {}).code(), Code::invalid);
  EXPECT_EQ(HostBuffer::allocate({MemoryKind::device, UINT64_MAX}, budget_, {}).code(),
            Code::no_memory);
  EXPECT_EQ(HostBuffer::allocate({MemoryKind::device, kMiB, 4096}, budget_, {}).code(),
            Code::invalid);
  EXPECT_EQ(HostBuffer::adopt(nullptr, 8).code(), Code::invalid);
}

TEST_F(BufferTest, AdoptedMemoryStaysTheOwners) {
  std::vector<std::byte> mine(8192, std::byte{7});
  {
    auto buffer = HostBuffer::adopt(mine.data(), mine.size());
    ASSERT_TRUE(buffer);
    EXPECT_EQ((*buffer)->host().data(), mine.data());
  }
  EXPECT_EQ(mine[8191], std::byte{7});
}

TEST_F(BufferTest, TellsWhoeverAskedBeforeItIsFreed) {
  const std::byte* told = nullptr;
  auto buffer = HostBuffer::allocate(
      {MemoryKind::device, kMiB}, budget_,
      [&](const std::byte* data, std::uint64_t bytes) { told = bytes == kMiB ? data : nullptr; });
  ASSERT_TRUE(buffer);
  const std::byte* data = (*buffer)->data();
  *buffer = nullptr;
  EXPECT_EQ(told, data);
}

TEST(Adapter, DescribesAMeasuredMachine) {
  const AdapterReport report = probe();
  EXPECT_EQ(report.state, AdapterState::ready);
  ASSERT_EQ(report.devices.size(), 1u);
  const DeviceInfo& info = report.devices[0];
  EXPECT_EQ(info.backend, "host");
  EXPECT_EQ(info.basis, Basis::measured);
  EXPECT_GT(info.memory_bytes, 0u);
  EXPECT_EQ(info.memory_bytes, info.host_memory_bytes);
}

TEST(Adapter, RefusesUnknownOptionsAndOtherSelectors) {
  const auto odd = open({"host", "", {{"colour", "red"}}, ""});
  EXPECT_EQ(odd.code(), Code::invalid);
  EXPECT_NE(odd.status().text.find("colour"), std::string::npos);
  EXPECT_EQ(open({"host", "1", {}, ""}).code(), Code::unsupported);
  EXPECT_EQ(open({"host", "x", {}, ""}).code(), Code::invalid);
  EXPECT_TRUE(open({"host", "0", {}, ""}));
}

}  // namespace
}  // namespace kvroof::host
