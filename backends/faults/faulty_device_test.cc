// SPDX-License-Identifier: Apache-2.0
// Each fault does what its name says, on a device in virtual time whose bytes move.
#include "backends/faults/faulty_device.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "backends/conformance/scratch.h"
#include "backends/registry/registry.h"
#include "backends/sim/test_profile.h"

namespace kvroof {
namespace {

constexpr std::uint64_t kBytes = 4096;
constexpr std::byte kOld{0x11}, kNew{0x22};

std::unique_ptr<Device> simulator() {
  DeviceSpec spec = *parse_device("sim:test");
  spec.profile_text = sim::test_profile();
  return std::move(*open_device(spec));
}

Work copy(const Region& region, std::span<const Point> fences = {}) {
  return {.fences = fences, .body = Regions{.list = {&region, 1}}};
}

// Copies host to device, where what was written before is kOld and what should arrive is kNew.
struct FaultyDeviceTest : testing::Test {
  FaultyDeviceTest() {
    std::fill_n(staging->host().data(), kBytes, kOld);
    const Region old{{staging.get(), 0, kBytes}, {target.get(), 0, kBytes}};
    EXPECT_TRUE(run(*in, copy(old)).ok());
    std::fill_n(source->host().data(), kBytes, kNew);
  }

  std::unique_ptr<Buffer> buffer(MemoryKind kind) {
    return std::move(*device.allocate({.kind = kind, .bytes = kBytes}));
  }
  std::unique_ptr<Queue> queue(QueueKind kind) {
    return std::move(*device.open_queue(kind, Priority::normal));
  }

  // Faults of copies in alone from here on.
  void meet(Fault fault) {
    device.faults.fault_of = [fault](QueueKind kind, Ticket) {
      return kind == QueueKind::copy_in ? fault : Fault::none;
    };
  }

  Code wait(Point point) { return device.wait_any({&point, 1}, Nanos::max()).code(); }

  Status ended(Queue& lane) {
    Completion done;
    const auto count = lane.reap({&done, 1});
    return count.ok() && *count == 1 ? done.status : Status{Code::timeout, "Nothing has ended."};
  }

  Status run(Queue& lane, const Work& work) {
    const auto ticket = lane.submit(work);
    if (!ticket.ok()) return ticket.status();
    EXPECT_EQ(wait({&lane, *ticket}), Code::ok);
    return ended(lane);
  }

  std::vector<std::byte> arrived() {
    const Region back{{target.get(), 0, kBytes}, {staging.get(), 0, kBytes}};
    EXPECT_TRUE(run(*out, copy(back)).ok());
    const auto bytes = staging->host();
    return {bytes.begin(), bytes.end()};
  }
  std::size_t count(std::byte value) {
    const auto bytes = arrived();
    return static_cast<std::size_t>(std::count(bytes.begin(), bytes.end(), value));
  }
  std::uint64_t counted(Fault fault) { return device.counts().of[static_cast<std::size_t>(fault)]; }

  FaultyDevice device{simulator()};
  std::unique_ptr<Buffer> source = buffer(MemoryKind::pinned), staging = buffer(MemoryKind::pinned),
                          target = buffer(MemoryKind::device);
  std::unique_ptr<Queue> in = queue(QueueKind::copy_in), out = queue(QueueKind::copy_out),
                         beside = queue(QueueKind::compute);
  Region region{{source.get(), 0, kBytes}, {target.get(), 0, kBytes}};
};

TEST_F(FaultyDeviceTest, AFailedCopyMovesNothingAndAbortsWhatIsFencedOnIt) {
  meet(Fault::failed);
  const Point failed{in.get(), *in->submit(copy(region))};
  const Point marker{out.get(), *out->submit({.fences = {&failed, 1}, .body = Regions{}})};
  const Point second{beside.get(), *beside->submit({.fences = {&marker, 1}, .body = Regions{}})};
  EXPECT_EQ(wait(second), Code::ok);
  EXPECT_EQ(ended(*in).code, Code::failed);
  EXPECT_EQ(ended(*out).code, Code::aborted);
  EXPECT_EQ(ended(*beside).code, Code::aborted);
  EXPECT_EQ(count(kOld), kBytes);
  EXPECT_EQ(run(*beside, {.fences = {&failed, 1}, .body = Regions{}}).code, Code::aborted);
}

TEST_F(FaultyDeviceTest, AShortCopyMovesABeginningAndFails) {
  meet(Fault::cut_short);
  EXPECT_EQ(run(*in, copy(region)).code, Code::failed);
  const auto bytes = arrived();
  const auto end = std::find(bytes.begin(), bytes.end(), kOld);
  EXPECT_NE(end, bytes.begin());
  EXPECT_TRUE(std::all_of(bytes.begin(), end, [](std::byte b) { return b == kNew; }));
  EXPECT_TRUE(std::all_of(end, bytes.end(), [](std::byte b) { return b == kOld; }));
}

TEST_F(FaultyDeviceTest, AGarbledCopyWritesSomethingElseAndFails) {
  meet(Fault::garbled);
  EXPECT_EQ(run(*in, copy(region)).code, Code::failed);
  EXPECT_LT(count(kOld), kBytes);
  EXPECT_LT(count(kNew), kBytes);
}

TEST_F(FaultyDeviceTest, SilentFaultsEndWell) {
  meet(Fault::silent_nothing);
  EXPECT_TRUE(run(*in, copy(region)).ok());
  EXPECT_EQ(count(kOld), kBytes);
  meet(Fault::silent_short);
  EXPECT_TRUE(run(*in, copy(region)).ok());
  EXPECT_GT(count(kOld), 0u);
  EXPECT_GT(count(kNew), 0u);
  meet(Fault::silent_garbled);
  EXPECT_TRUE(run(*in, copy(region)).ok());
  EXPECT_LT(count(kNew), kBytes);
}

TEST_F(FaultyDeviceTest, ALateCopyLandsLaterAndWell) {
  device.faults.longest_delay = std::chrono::seconds(1);
  meet(Fault::late);
  const Nanos before = device.now();
  EXPECT_TRUE(run(*in, copy(region)).ok());
  EXPECT_GT(device.now() - before, std::chrono::milliseconds(1));
  EXPECT_EQ(count(kNew), kBytes);
}

TEST_F(FaultyDeviceTest, PlantedALateCopyIsHandedBackAsFailedAndLandsLater) {
  device.faults.longest_delay = std::chrono::seconds(1);
  device.faults.ends_open_copies = true;
  meet(Fault::late);
  const Point late{in.get(), *in->submit(copy(region))};
  EXPECT_EQ(ended(*in).code, Code::failed);
  EXPECT_EQ(count(kOld), kBytes);
  EXPECT_EQ(wait(late), Code::ok);
  EXPECT_EQ(count(kNew), kBytes);
  EXPECT_EQ(ended(*in).code, Code::timeout);  // once is enough
}

TEST_F(FaultyDeviceTest, AWaitEndsAtItsDeadlineWhileACopyIsLate) {
  device.faults.longest_delay = std::chrono::seconds(1);
  meet(Fault::late);
  const Point late{in.get(), *in->submit(copy(region))};
  const Nanos deadline = device.now() + Nanos(1000);
  EXPECT_EQ(device.wait_any({&late, 1}, deadline).code(), Code::timeout);
  EXPECT_EQ(device.now(), deadline);
}

TEST_F(FaultyDeviceTest, AnOvertakenCopyEndsAfterALaterOneOfAnotherQueue) {
  device.faults.longest_delay = std::chrono::seconds(1);
  meet(Fault::overtaken);
  const Point first{in.get(), *in->submit(copy(region))};
  const Point second{beside.get(), *beside->submit({.fences = {}, .body = Regions{}})};
  const Point both[] = {first, second};
  EXPECT_EQ(*device.wait_any(both, Nanos::max()), 1u);
  EXPECT_EQ(wait(first), Code::ok);
  EXPECT_LT(device.now(), std::chrono::milliseconds(100));
  EXPECT_EQ(count(kNew), kBytes);
}

TEST_F(FaultyDeviceTest, AnOvertakenCopyThatWaitsForItsOvertakerEndsInTime) {
  meet(Fault::overtaken);
  const Point first{in.get(), *in->submit(copy(region))};
  const Point second{beside.get(), *beside->submit({.fences = {&first, 1}, .body = Regions{}})};
  EXPECT_EQ(wait(second), Code::ok);
}

TEST_F(FaultyDeviceTest, AnUnendingCopyHoldsItsLaneUntilTheQueueIsClosed) {
  meet(Fault::unending);
  const Point unending{in.get(), *in->submit(copy(region))};
  meet(Fault::none);
  const Point behind{in.get(), *in->submit(copy(region))};
  const Point fenced{beside.get(), *beside->submit({.fences = {&unending, 1}, .body = Regions{}})};
  EXPECT_EQ(wait(behind), Code::stuck);
  EXPECT_EQ(device.wait_any({&behind, 1}, device.now() + Nanos(5)).code(), Code::stuck);
  EXPECT_EQ(count(kOld), kBytes);
  in.reset();
  EXPECT_EQ(wait(fenced), Code::ok);
  EXPECT_EQ(ended(*beside).code, Code::aborted);
  EXPECT_EQ(count(kNew), kBytes);  // what merely stood behind it has run
}

TEST_F(FaultyDeviceTest, BusyClearsOnceACompletionIsSeen) {
  meet(Fault::busy);
  const auto first = in->submit(copy(region));
  ASSERT_TRUE(first.ok());  // nothing was open that could clear it
  EXPECT_EQ(in->submit(copy(region)).code(), Code::busy);
  meet(Fault::none);
  EXPECT_EQ(in->submit(copy(region)).code(), Code::busy);
  EXPECT_EQ(wait({in.get(), *first}), Code::ok);
  EXPECT_EQ(*in->submit(copy(region)), *first + 1);
  EXPECT_EQ(counted(Fault::busy), 1u);
}

TEST_F(FaultyDeviceTest, ARefusedSubmissionTakesNoTicket) {
  meet(Fault::refused);
  EXPECT_EQ(in->submit(copy(region)).code(), Code::failed);
  meet(Fault::none);
  EXPECT_EQ(*in->submit(copy(region)), 2u);  // 1 was the constructor's
}

TEST_F(FaultyDeviceTest, ALostDeviceEndsWhatIsOpenAndRefusesTheRest) {
  const Point held{beside.get(), *beside->submit({.fences = {}, .body = Hold{1}})};
  EXPECT_TRUE(in->submit(copy(region, {&held, 1})).ok());
  meet(Fault::unending);
  const Point unending{in.get(), *in->submit(copy(region))};
  meet(Fault::lost);
  EXPECT_EQ(in->submit(copy(region)).code(), Code::lost);
  EXPECT_EQ(wait(unending), Code::ok);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(ended(*in).code, Code::lost);
  EXPECT_EQ(ended(*beside).code, Code::lost);
  EXPECT_EQ(out->submit(copy(region)).code(), Code::lost);
  EXPECT_EQ(device.allocate({.kind = MemoryKind::device, .bytes = 1}).code(), Code::lost);
  EXPECT_EQ(device.open_queue(QueueKind::compute, Priority::low).code(), Code::lost);
  EXPECT_EQ(device.open_gate(1).code, Code::lost);
  EXPECT_EQ(counted(Fault::lost), 1u);
}

TEST_F(FaultyDeviceTest, CallsAreRefusedAndMemoryIsPageable) {
  device.faults.pageable = true;
  EXPECT_EQ(buffer(MemoryKind::pinned)->facts().kind, MemoryKind::pageable);
  device.faults.no_memory = device.faults.no_queue = 1;
  EXPECT_EQ(device.allocate({.kind = MemoryKind::device, .bytes = 1}).code(), Code::no_memory);
  EXPECT_EQ(device.open_queue(QueueKind::compute, Priority::low).code(), Code::failed);
  EXPECT_EQ(device.counts().no_memory, 1u);
  EXPECT_EQ(device.counts().no_queue, 1u);
}

// A file that is torn without a word is short on disk; one whose writing fails is not there.
TEST_F(FaultyDeviceTest, FilesAreTornOrMissingOrReadInPart) {
  const conformance::Scratch scratch;
  const auto writes = queue(QueueKind::disk_write), reads = queue(QueueKind::disk_read);
  const Span piece{source.get(), 0, kBytes}, into{staging.get(), 0, kBytes};
  const Work write{{}, WriteFile{&scratch.directory, "t", "f", {&piece, 1}}};
  const Work read{{}, ReadFile{&scratch.directory, "f", {&into, 1}}};
  device.faults.fails = [](QueueKind kind, Ticket) { return kind == QueueKind::disk_write; };
  EXPECT_EQ(run(*writes, write).code, Code::failed);
  EXPECT_FALSE(scratch.has("f") || scratch.has("t"));
  device.faults.fails = nullptr;
  device.faults.fault_of = [](QueueKind, Ticket) { return Fault::silent_short; };
  EXPECT_TRUE(run(*writes, write).ok());
  device.faults.fault_of = nullptr;
  EXPECT_LT(scratch.contents("f").size(), kBytes);
  EXPECT_EQ(run(*reads, read).code, Code::failed);
  EXPECT_TRUE(run(*writes, write).ok());
  std::fill_n(staging->host().data(), kBytes, kOld);
  device.faults.fault_of = [](QueueKind, Ticket) { return Fault::cut_short; };
  EXPECT_EQ(run(*reads, read).code, Code::failed);
  const auto got = staging->host();
  EXPECT_EQ(got.front(), kNew);
  EXPECT_EQ(got.back(), kOld);
}

TEST_F(FaultyDeviceTest, QueuesAreCounted) {
  EXPECT_EQ(device.open_queues(), 3u);
  { const auto more = queue(QueueKind::host); }
  in.reset();
  EXPECT_EQ(device.open_queues(), 2u);
}

// What was drawn, as one letter a submission.
std::string faults_drawn(std::uint64_t seed, double rate) {
  Faults faults{.seed = seed};
  rates_of(faults, QueueKind::copy_in)[Fault::failed] = rate;
  FaultyDevice device(simulator(), faults);
  const auto lane = std::move(*device.open_queue(QueueKind::copy_in, Priority::normal));
  std::string letters;
  for (int i = 0; i < 1000; ++i) {
    const Point point{lane.get(), *lane->submit({.fences = {}, .body = Regions{}})};
    EXPECT_TRUE(device.wait_any({&point, 1}, Nanos::max()).ok());
    Completion done;
    EXPECT_EQ(*lane->reap({&done, 1}), 1u);
    letters += done.status.ok() ? '.' : 'f';
  }
  return letters;
}

TEST(FaultRates, ASeedDrawsTheSameAndAsOftenAsItsRate) {
  const std::string drawn = faults_drawn(1, 0.25);
  EXPECT_EQ(drawn, faults_drawn(1, 0.25));
  EXPECT_NE(drawn, faults_drawn(2, 0.25));
  EXPECT_NEAR(static_cast<double>(std::count(drawn.begin(), drawn.end(), 'f')), 250, 60);
}

TEST(FaultRates, EachHasItsShare) {
  FaultRates rates;
  rates[Fault::failed] = 0.25;
  rates[Fault::late] = 0.5;
  EXPECT_EQ(rates.at(0.2), Fault::failed);
  EXPECT_EQ(rates.at(0.3), Fault::late);
  EXPECT_EQ(rates.at(0.8), Fault::none);
}

}  // namespace
}  // namespace kvroof
