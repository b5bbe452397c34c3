// SPDX-License-Identifier: Apache-2.0
// The seam's rules for queues, and that bytes move when a ticket lands and not before.
#include "backends/sim/sim_fixture.h"

namespace kvroof::sim {
namespace {

using namespace std::chrono_literals;

class SimQueueTest : public SimFixture {
 protected:
  std::unique_ptr<Buffer> host_ = buffer(MemoryKind::pinned, 1'000'000);
  std::unique_ptr<Buffer> onto_ = buffer(MemoryKind::device, 1'000'000);
  std::unique_ptr<Buffer> back_ = buffer(MemoryKind::pinned, 1'000'000);
  std::unique_ptr<Queue> in_ = queue(QueueKind::copy_in);
  std::unique_ptr<Queue> out_ = queue(QueueKind::copy_out);
  const Region load_ = whole(*host_, *onto_), store_ = whole(*onto_, *back_);
};

TEST_F(SimQueueTest, ACopyTakesItsBytesOverTheLinkAfterItsSubmission) {
  const Ticket ticket = *in_->submit(copy(load_));
  EXPECT_EQ(device_->now(), 0ns);
  EXPECT_EQ(finish(*in_, ticket), 102us);  // 2 us to submit, 1 MB at 10 GB/s
  const auto done = reap_all(*in_);
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].interval->begin, 2us);
  EXPECT_EQ(done[0].interval->end, 102us);
}

TEST_F(SimQueueTest, TheSourceIsReadWhenTheTicketLands) {
  host_->host()[0] = std::byte{1};
  const Ticket loaded = *in_->submit(copy(load_));
  host_->host()[0] = std::byte{2};
  const Point after{in_.get(), loaded};
  const Ticket stored = *out_->submit(copy(store_, {&after, 1}));
  finish(*in_, loaded);
  host_->host()[0] = std::byte{3};
  EXPECT_EQ(back_->host()[0], std::byte{0});
  finish(*out_, stored);
  EXPECT_EQ(back_->host()[0], std::byte{2});
}

TEST_F(SimQueueTest, AStoreThatDoesNotWaitForTheLoadReadsWhatWasThereBefore) {
  host_->host()[0] = std::byte{7};
  const auto small = buffer(MemoryKind::pinned, 1);
  const Region early{{onto_.get(), 0, 1}, {small.get(), 0, 1}};
  const Ticket loaded = *in_->submit(copy(load_));
  const Ticket stored = *out_->submit(copy(early));
  finish(*out_, stored);
  finish(*in_, loaded);
  EXPECT_EQ(small->host()[0], std::byte{0});
}

TEST_F(SimQueueTest, TicketsOfAQueueRunOneAfterTheOtherAndAreReapedOnceInOrder) {
  EXPECT_EQ(*in_->submit(copy(load_)), 1u);
  EXPECT_EQ(*in_->submit(copy(load_)), 2u);
  EXPECT_TRUE(reap_all(*in_).empty());
  EXPECT_EQ(finish(*in_, 2), 202us);
  const auto done = reap_all(*in_);
  ASSERT_EQ(done.size(), 2u);
  EXPECT_EQ(done[0].ticket, 1u);
  EXPECT_EQ(done[1].interval->begin, 102us);
  EXPECT_TRUE(reap_all(*in_).empty());
}

TEST_F(SimQueueTest, ReapWritesNoMoreThanThereIsRoomFor) {
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(in_->submit(copy(load_)).ok());
  finish(*in_, 3);
  std::vector<Completion> two(2);
  EXPECT_EQ(*in_->reap(two), 2u);
  EXPECT_EQ(*in_->reap(two), 1u);
  EXPECT_EQ(two[0].ticket, 3u);
}

TEST_F(SimQueueTest, RefusesWhatCanNeverRun) {
  const Point future{in_.get(), 1};
  EXPECT_EQ(in_->submit(copy(load_, {&future, 1})).code(), Code::invalid);
  const Point nothing{nullptr, 1};
  EXPECT_EQ(in_->submit(copy(load_, {&nothing, 1})).code(), Code::invalid);
  EXPECT_EQ(in_->submit(copy(store_)).code(), Code::invalid);
  EXPECT_EQ(out_->submit(copy(load_)).code(), Code::invalid);
  Region past_the_end = load_;
  past_the_end.source.offset = 1;
  EXPECT_EQ(in_->submit(copy(past_the_end)).code(), Code::invalid);
  Region wrapping = load_;
  wrapping.source.offset = ~0ull;
  EXPECT_EQ(in_->submit(copy(wrapping)).code(), Code::invalid);
  Region uneven = load_;
  uneven.source.bytes = 1;
  EXPECT_EQ(in_->submit(copy(uneven)).code(), Code::invalid);
  Region empty = load_;
  empty.source.bytes = empty.destination.bytes = 0;
  EXPECT_EQ(in_->submit(copy(empty)).code(), Code::invalid);
  EXPECT_EQ(in_->submit({{}, Op{Norm{}}}).code(), Code::invalid);
  EXPECT_EQ(in_->submit({{}, Spend{1us}}).code(), Code::invalid);
  const std::vector<Region> many(device_->info().max_regions + 1, load_);
  EXPECT_EQ(in_->submit({{}, Regions{many}}).code(), Code::invalid);
  EXPECT_EQ(*in_->submit(copy(load_)), 1u);  // none of them took a ticket
}

TEST_F(SimQueueTest, RefusesBuffersOfAnotherDevice) {
  DeviceSpec spec;
  spec.profile_text = test_profile();
  const auto other = std::move(*open(spec));
  const auto foreign = std::move(*other->allocate({MemoryKind::device, 1'000'000}));
  const Region region = whole(*host_, *foreign);
  EXPECT_EQ(in_->submit(copy(region)).code(), Code::invalid);
}

TEST_F(SimQueueTest, IsBusyWithTooManyOpenTicketsUntilOneCompletes) {
  for (std::uint64_t i = 0; i < device_->info().max_open_tickets; ++i) {
    ASSERT_TRUE(in_->submit({{}, Hold{1}}).ok());
  }
  EXPECT_EQ(in_->submit({{}, Hold{1}}).code(), Code::busy);
  ASSERT_TRUE(device_->open_gate(1).ok());
  EXPECT_EQ(in_->submit({{}, Hold{1}}).code(), Code::busy);
  finish(*in_, 1);
  EXPECT_EQ(*in_->submit({{}, Hold{1}}), device_->info().max_open_tickets + 1);
}

TEST_F(SimQueueTest, AHoldKeepsTheLaneUntilItsGateOpens) {
  const Ticket held = *in_->submit({{}, Hold{5}});
  const Ticket behind = *in_->submit(copy(load_));
  const Point point{in_.get(), behind};
  EXPECT_EQ(device_->wait_any({&point, 1}, Nanos::max()).code(), Code::stuck);
  EXPECT_EQ(device_->now(), 0ns);
  ASSERT_TRUE(device_->open_gate(5).ok());
  ASSERT_TRUE(device_->open_gate(5).ok());
  EXPECT_TRUE(reap_all(*in_).empty());  // opening a gate completes nothing by itself
  EXPECT_EQ(finish(*in_, held), 0ns);
  EXPECT_EQ(finish(*in_, behind), 102us);
  EXPECT_EQ(finish(*in_, *in_->submit({{}, Hold{5}})), 102us);
}

// A gather whose index points outside its source, as the work that fails.
class SimFailureTest : public SimQueueTest {
 protected:
  SimFailureTest() {
    index_ = buffer(MemoryKind::device, 4);
    const Ticket filled = *lane_->submit({{}, Fill{{index_.get(), 0, 4}, 0x7f}});
    finish(*lane_, filled);
    reap_all(*lane_);
    const Gather gather{.source = {onto_.get(), 0, 8},
                        .index = {index_.get(), 0, 4},
                        .out = {onto_.get(), 8, 8},
                        .rows = 1,
                        .row_bytes = 8};
    failing_ = *lane_->submit({{}, Op{gather}});
  }

  std::unique_ptr<Buffer> index_;
  std::unique_ptr<Queue> lane_ = queue(QueueKind::compute);
  Ticket failing_ = 0;
};

TEST_F(SimFailureTest, WorkThatWaitsForAFailureIsAbortedAndSoIsWhatWaitsForThat) {
  host_->host()[0] = std::byte{9};
  const Point failing{lane_.get(), failing_};
  const Ticket first = *in_->submit(copy(load_, {&failing, 1}));
  const Point aborted{in_.get(), first};
  const Ticket second = *out_->submit(copy(store_, {&aborted, 1}));
  const Ticket free = *in_->submit(copy(load_));
  finish(*out_, second);
  EXPECT_EQ(reap_all(*out_)[0].status.code, Code::aborted);
  finish(*in_, free);
  const auto done = reap_all(*in_);
  EXPECT_EQ(done[0].status.code, Code::aborted);
  EXPECT_FALSE(done[0].interval.has_value());
  EXPECT_EQ(done[1].status.code, Code::ok);
  EXPECT_EQ(reap_all(*lane_)[0].status.code, Code::failed);
}

TEST_F(SimFailureTest, AFenceOnAFailureThatWasReapedLongAgoStillAborts) {
  finish(*lane_, failing_);
  ASSERT_EQ(reap_all(*lane_).size(), 1u);
  ASSERT_TRUE(lane_->submit({{}, Hold{1}}).ok());
  const Point failed{lane_.get(), failing_}, good{lane_.get(), failing_ - 1};
  const Ticket doomed = *in_->submit(copy(load_, {&failed, 1}));
  const Ticket fine = *in_->submit(copy(load_, {&good, 1}));
  finish(*in_, fine);
  const auto done = reap_all(*in_);
  EXPECT_EQ(done[doomed - 1].status.code, Code::aborted);
  EXPECT_EQ(done[fine - 1].status.code, Code::ok);
}

TEST_F(SimQueueTest, DestroyingAQueueLetsItsWorkLand) {
  host_->host()[0] = std::byte{4};
  const Ticket loaded = *in_->submit(copy(load_));
  const Point after{in_.get(), loaded};
  const Ticket stored = *out_->submit(copy(store_, {&after, 1}));
  in_.reset();
  EXPECT_EQ(device_->now(), 102us);
  finish(*out_, stored);
  EXPECT_EQ(back_->host()[0], std::byte{4});
}

TEST_F(SimQueueTest, DestroyingAQueueAbortsWhatCanNeverHappen) {
  const Ticket held = *in_->submit({{}, Hold{1}});
  const Point after{in_.get(), held};
  const Ticket stored = *out_->submit(copy(store_, {&after, 1}));
  auto third = queue(QueueKind::copy_out);
  ASSERT_TRUE(third->submit(copy(store_, {&after, 1})).ok());
  third.reset();  // waits for a gate that nobody opened
  in_.reset();
  finish(*out_, stored);
  EXPECT_EQ(reap_all(*out_)[0].status.code, Code::aborted);
}

TEST_F(SimQueueTest, ALoadAndAStoreShareTheLinksTotal) {
  const Ticket loaded = *in_->submit(copy(load_));
  const Ticket stored = *out_->submit(copy(store_));
  // The load runs alone from 2 to 4 us (20 kB at 10 GB/s), then both at 8 GB/s: 980 kB take 122.5
  // us.
  EXPECT_EQ(finish(*in_, loaded), 126'500ns);
  // By then the store has moved 980 kB too; its last 20 kB go alone at 10 GB/s.
  EXPECT_EQ(finish(*out_, stored), 128'500ns);
}

TEST_F(SimQueueTest, CpuTimeIsServedInTheOrderOfTheCalls) {
  const auto cpu = queue(QueueKind::host);
  const Ticket first = *cpu->submit({{}, Spend{10us}});
  const Ticket second = *cpu->submit({{}, Spend{5us}});
  const Ticket loaded = *in_->submit(copy(load_));
  EXPECT_EQ(finish(*cpu, first), 10us);
  EXPECT_EQ(finish(*cpu, second), 15us);
  EXPECT_EQ(finish(*in_, loaded), 117us);
}

TEST_F(SimQueueTest, CpuTimeThatWaitsTakesItsTurnWhenItsFenceIsMet) {
  const auto cpu = queue(QueueKind::host);
  const Ticket loaded = *in_->submit(copy(load_));
  const Point after{in_.get(), loaded};
  const Ticket spent = *cpu->submit({{&after, 1}, Spend{10us}});
  EXPECT_EQ(finish(*cpu, spent), 112us);
  EXPECT_EQ(reap_all(*cpu)[0].interval->begin, 102us);
}

TEST_F(SimQueueTest, ACopyCannotEndBeforeItsLastRegionIsSubmitted) {
  const std::vector<Region> tiny(100, Region{{host_.get(), 0, 1}, {onto_.get(), 0, 1}});
  EXPECT_EQ(finish(*in_, *in_->submit({{}, Regions{tiny, CopyMethod::dma}})), 101us);
}

}  // namespace
}  // namespace kvroof::sim
