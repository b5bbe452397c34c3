// SPDX-License-Identifier: Apache-2.0
// What is particular to the host's queues; what holds of every adapter is the conformance suite's.
#include "backends/host/queue.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <vector>

#include "backends/host/adapter.h"

namespace kvroof::host {
namespace {

constexpr std::uint64_t kBytes = 3 << 20;

class QueueTest : public ::testing::Test {
 protected:
  void SetUp() override {
    device_ = std::move(*open({"host", "", {}, ""}));
    in_ = lane(QueueKind::copy_in);
    out_ = lane(QueueKind::copy_out);
    device_buffer_ = buffer(MemoryKind::device);
    host_buffer_ = buffer(MemoryKind::pinned);
  }
  std::unique_ptr<Queue> lane(QueueKind kind) {
    return std::move(*device_->open_queue(kind, Priority::normal));
  }
  std::unique_ptr<Buffer> buffer(MemoryKind kind) {
    return std::move(*device_->allocate({kind, kBytes}));
  }
  Ticket must(Result<Ticket> ticket) {
    EXPECT_TRUE(ticket.ok()) << ticket.status().text;
    return ticket ? *ticket : 0;
  }
  Completion finish(Queue& queue, Ticket ticket) {
    const Point point{&queue, ticket};
    EXPECT_TRUE(device_->wait_any({&point, 1}, Nanos::max()));
    Completion completion;
    while (completion.ticket != ticket && *queue.reap({&completion, 1}) == 1) continue;
    return completion;
  }
  Region region(Buffer& from, Buffer& to) { return {{&from, 0, kBytes}, {&to, 0, kBytes}}; }

  std::unique_ptr<Device> device_;
  std::unique_ptr<Buffer> device_buffer_, host_buffer_;
  std::unique_ptr<Queue> in_, out_;  // gone before the buffers
};

TEST_F(QueueTest, ARoundTripThroughDeviceMemoryKeepsTheBytes) {
  for (std::size_t i = 0; i < kBytes; ++i) host_buffer_->host()[i] = static_cast<std::byte>(i * 31);
  auto back = buffer(MemoryKind::pageable);
  const Region there = region(*host_buffer_, *device_buffer_);
  const Region here = region(*device_buffer_, *back);
  const Point landed{in_.get(), must(in_->submit({{}, Regions{{&there, 1}}}))};
  const Ticket last = must(out_->submit({{&landed, 1}, Regions{{&here, 1}}}));
  const Completion completion = finish(*out_, last);
  EXPECT_TRUE(completion.status.ok()) << completion.status.text;
  ASSERT_TRUE(completion.interval.has_value());
  EXPECT_LE(completion.interval->begin, completion.interval->end);
  EXPECT_EQ(std::memcmp(back->host().data(), host_buffer_->host().data(), kBytes), 0);
}

TEST_F(QueueTest, AHoldKeepsItsLaneAndAllThatFencesOnIt) {
  const Point held{in_.get(), must(in_->submit({{}, Hold{7}}))};
  const Ticket after = must(out_->submit({{&held, 1}, Fill{{device_buffer_.get(), 0, 64}, 9}}));
  const Point waited{out_.get(), after};
  EXPECT_EQ(device_->wait_any({&waited, 1}, device_->now()).code(), Code::timeout);
  ASSERT_TRUE(device_->open_gate(7).ok());
  EXPECT_TRUE(finish(*out_, after).status.ok());
  EXPECT_TRUE(finish(*in_, must(in_->submit({{}, Hold{7}}))).status.ok());
}

TEST_F(QueueTest, ClosingAHeldQueueAbortsTheHoldAndWhatFencesOnIt) {
  const Point held{in_.get(), must(in_->submit({{}, Hold{1}}))};
  const Ticket after = must(out_->submit({{&held, 1}, Fill{{device_buffer_.get(), 0, 64}, 9}}));
  in_.reset();
  EXPECT_EQ(finish(*out_, after).status.code, Code::aborted);
}

TEST_F(QueueTest, AQueueStoppedByAnothersGateCanBeClosedFirst) {
  auto third = lane(QueueKind::host);
  const Point held{in_.get(), must(in_->submit({{}, Hold{1}}))};
  const Point middle{out_.get(), must(out_->submit({{&held, 1}, Regions{}}))};
  must(third->submit({{&middle, 1}, Regions{}}));
  third.reset();
  out_.reset();
}

// Whether or not the lane that was held has noticed yet that its gate is open.
TEST_F(QueueTest, AQueueClosedAfterItsGateOpenedRunsWhatWaited) {
  for (Gate gate = 1; gate <= 200; ++gate) {
    auto third = lane(QueueKind::compute);
    const Point held{in_.get(), must(in_->submit({{}, Hold{gate}}))};
    const Point waiting{third.get(),
                        must(third->submit({{&held, 1}, Fill{{device_buffer_.get(), 0, 64}, 9}}))};
    const Ticket after = must(out_->submit({{&waiting, 1}, Regions{}}));
    ASSERT_TRUE(device_->open_gate(gate).ok());
    third.reset();
    ASSERT_TRUE(finish(*out_, after).status.ok()) << "gate " << gate;
  }
}

TEST_F(QueueTest, AFenceMayNameATicketThatFailedAndWasReapedLongAgo) {
  auto closed = lane(QueueKind::copy_in);
  const Point held{closed.get(), must(closed->submit({{}, Hold{1}}))};
  const Ticket aborted = must(out_->submit({{&held, 1}, Regions{}}));
  closed.reset();
  EXPECT_EQ(finish(*out_, aborted).status.code, Code::aborted);
  for (int i = 0; i < 100; ++i) must(out_->submit({{}, Regions{}}));
  EXPECT_TRUE(finish(*out_, aborted + 100).status.ok());
  const Point failed{out_.get(), aborted}, fine{out_.get(), aborted + 1};
  EXPECT_EQ(finish(*in_, must(in_->submit({{&failed, 1}, Regions{}}))).status.code, Code::aborted);
  EXPECT_TRUE(finish(*in_, must(in_->submit({{&fine, 1}, Regions{}}))).status.ok());
}

TEST_F(QueueTest, AFullQueueIsBusyAndClearsWithACompletion) {
  must(in_->submit({{}, Hold{1}}));
  for (std::uint64_t i = 1; i < device_->info().max_open_tickets; ++i) {
    must(in_->submit({{}, Regions{}}));
  }
  EXPECT_EQ(in_->submit({{}, Regions{}}).code(), Code::busy);
  ASSERT_TRUE(device_->open_gate(1).ok());
  const Point first{in_.get(), 1};
  EXPECT_TRUE(device_->wait_any({&first, 1}, Nanos::max()));
  EXPECT_EQ(must(in_->submit({{}, Regions{}})), device_->info().max_open_tickets + 1);
}

TEST_F(QueueTest, RefusesWhatCanNeverBe) {
  const Region backwards = region(*device_buffer_, *host_buffer_);
  EXPECT_EQ(in_->submit({{}, Regions{{&backwards, 1}}}).code(), Code::invalid);
  const Region there = region(*host_buffer_, *device_buffer_);
  EXPECT_EQ(out_->submit({{}, Regions{{&there, 1}}}).code(), Code::invalid);
  const Region uneven{{host_buffer_.get(), 0, 8}, {device_buffer_.get(), 0, 9}};
  EXPECT_EQ(in_->submit({{}, Regions{{&uneven, 1}}}).code(), Code::invalid);
  const Region outside{{host_buffer_.get(), kBytes, 8}, {device_buffer_.get(), 0, 8}};
  EXPECT_EQ(in_->submit({{}, Regions{{&outside, 1}}}).code(), Code::invalid);
  const Region wraps{{host_buffer_.get(), UINT64_MAX, 8}, {device_buffer_.get(), 0, 8}};
  EXPECT_EQ(in_->submit({{}, Regions{{&wraps, 1}}}).code(), Code::invalid);
  const std::vector<Region> many(device_->info().max_regions + 1, there);
  EXPECT_EQ(in_->submit({{}, Regions{many}}).code(), Code::invalid);
  EXPECT_EQ(in_->submit({{}, Op{Norm{}}}).code(), Code::invalid);
  EXPECT_EQ(in_->submit({{}, Spend{}}).code(), Code::invalid);
  EXPECT_EQ(lane(QueueKind::host)->submit({{}, Spend{}}).code(), Code::unsupported);
  const Point future{in_.get(), 1};
  EXPECT_EQ(in_->submit({{&future, 1}, Regions{}}).code(), Code::invalid);
  EXPECT_EQ(device_->wait_any({}, Nanos::max()).code(), Code::invalid);
}

TEST_F(QueueTest, HostQueuesCopyBetweenHostBuffersOnly) {
  auto other = buffer(MemoryKind::pageable);
  auto host = lane(QueueKind::host);
  std::memset(host_buffer_->host().data(), 0x5A, kBytes);
  const Region fine = region(*host_buffer_, *other), bad = region(*host_buffer_, *device_buffer_);
  EXPECT_EQ(host->submit({{}, Regions{{&bad, 1}}}).code(), Code::invalid);
  EXPECT_TRUE(finish(*host, must(host->submit({{}, Regions{{&fine, 1}}}))).status.ok());
  EXPECT_EQ(other->host()[kBytes - 1], std::byte{0x5A});
}

// Two threads each drive a lane of their own, fencing on one another's progress.
TEST_F(QueueTest, LanesCanBeDrivenFromTheirOwnThreads) {
  auto scratch = buffer(MemoryKind::pageable);
  const Region there = region(*host_buffer_, *device_buffer_);
  const Region here = region(*device_buffer_, *scratch);
  const auto drive = [&](Queue& queue, const Region& one) {
    for (int i = 0; i < 50; ++i) {
      const Ticket ticket = must(queue.submit({{}, Regions{{&one, 1}}}));
      const Point point{&queue, ticket};
      EXPECT_EQ(queue.submit({{&point, 1}, Hold{1}}).ok(), true);
    }
    Completion done[8];
    for (std::size_t seen = 0; seen < 100;) seen += *queue.reap(done);
  };
  ASSERT_TRUE(device_->open_gate(1).ok());
  auto own_in = buffer(MemoryKind::device);
  const Region other = region(*host_buffer_, *own_in);
  std::thread first([&] { drive(*in_, other); });
  drive(*out_, here);
  first.join();
  EXPECT_TRUE(finish(*in_, must(in_->submit({{}, Regions{{&there, 1}}}))).status.ok());
}

TEST(PacedLink, CopiesTakeWhatTheRateAllowsAndNoLess) {
  const auto device = std::move(*open({"host", "", {{"link", "100MB/s"}}, ""}));
  EXPECT_EQ(device->info().basis, Basis::emulated);
  EXPECT_EQ(device->info().peaks.link_in, 100e6);
  constexpr std::uint64_t kPaced = 1 << 20;
  const auto near = std::move(*device->allocate({MemoryKind::device, kPaced}));
  const auto far = std::move(*device->allocate({MemoryKind::pinned, kPaced}));
  const auto lane = std::move(*device->open_queue(QueueKind::copy_in, Priority::normal));
  const Region region{{far.get(), 0, kPaced}, {near.get(), 0, kPaced}};
  const Nanos begin = device->now();
  Ticket last = 0;
  for (int i = 0; i < 3; ++i) last = *lane->submit({{}, Regions{{&region, 1}}});
  const Point point{lane.get(), last};
  ASSERT_TRUE(device->wait_any({&point, 1}, Nanos::max()).ok());
  EXPECT_GE(device->now() - begin, std::chrono::milliseconds(31));  // 3 MiB at 100 MB/s
}

TEST(PacedLink, TimeAtAGateDoesNotCount) {
  const auto device = std::move(*open({"host", "", {{"link", "100MB/s"}}, ""}));
  constexpr std::uint64_t kPaced = 1 << 20;
  const auto near = std::move(*device->allocate({MemoryKind::device, kPaced}));
  const auto far = std::move(*device->allocate({MemoryKind::pinned, kPaced}));
  const auto lane = std::move(*device->open_queue(QueueKind::copy_in, Priority::normal));
  const Region region{{far.get(), 0, kPaced}, {near.get(), 0, kPaced}};
  const Point first{lane.get(), *lane->submit({{}, Regions{{&region, 1}}})};
  ASSERT_TRUE(lane->submit({{}, Hold{1}}).ok());
  const Point second{lane.get(), *lane->submit({{}, Regions{{&region, 1}}})};
  ASSERT_TRUE(device->wait_any({&first, 1}, Nanos::max()).ok());
  EXPECT_EQ(device->wait_any({}, device->now() + std::chrono::milliseconds(20)).code(),
            Code::timeout);
  const Nanos opened = device->now();
  ASSERT_TRUE(device->open_gate(1).ok());
  ASSERT_TRUE(device->wait_any({&second, 1}, Nanos::max()).ok());
  EXPECT_GE(device->now() - opened, std::chrono::milliseconds(10));
}

TEST(PacedLink, WhatIsNoRateIsRefused) {
  for (const char* text : {"pcie4x16", "fast", "0GB/s", ""}) {
    EXPECT_EQ(open({"host", "", {{"link", text}}, ""}).code(), Code::invalid) << text;
  }
  EXPECT_EQ(open({"host", "", {{"rate", "5GB/s"}}, ""}).code(), Code::invalid);
}

}  // namespace
}  // namespace kvroof::host
