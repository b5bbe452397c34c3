// SPDX-License-Identifier: Apache-2.0
// CUDA's copy path over the driver's double, held to the seam; and what the double alone can show:
// nothing left behind, and every entry point failing in turn.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "backends/conformance/suite.h"
#include "backends/cuda/adapter.h"
#include "tests/doubles/cuda/cuda_double.h"

namespace kvroof::conformance {
namespace {

using testing::HasSubstr;

Result<std::unique_ptr<Device>> open(std::uint64_t piece_bytes = 1ull << 30) {
  return cuda::open({.library = KVROOF_CUDA_DOUBLE, .ordinal = 0, .piece_bytes = piece_bytes});
}

std::unique_ptr<Device> must(Result<std::unique_ptr<Device>> device) {
  if (!device) ADD_FAILURE() << device.status().text;
  return device ? std::move(*device) : nullptr;
}

std::unique_ptr<Device> open_cuda() { return must(open()); }
// So small that most copies touch several registrations.
std::unique_ptr<Device> open_pieces() { return must(open(4096)); }
std::unique_ptr<Device> open_without_batch() {
  cuda_double::have_batch(false);
  auto device = open_cuda();
  cuda_double::have_batch(true);
  return device;
}

KVROOF_CONFORMANCE(cuda, open_cuda, rule_checks, hold_checks, byte_checks, sum_checks);
KVROOF_CONFORMANCE(cuda_in_pieces, open_pieces, byte_checks);
KVROOF_CONFORMANCE(cuda_before_12_8, open_without_batch, byte_checks);

// Each test ends with everything given back, and no rule of the driver's broken.
class Leaves : public testing::EmptyTestEventListener {
  void OnTestEnd(const testing::TestInfo&) override {
    EXPECT_EQ(cuda_double::alive(), 0u) << "something was not given back to the driver";
    EXPECT_EQ(cuda_double::violations(), "");
    cuda_double::reset();
  }
};
const bool kListens = [] {
  testing::UnitTest::GetInstance()->listeners().Append(new Leaves);
  return true;
}();

TEST(Cuda, WithoutADriverSaysWhatItLookedFor) {
  const auto none = cuda::open({.library = "libnosuch.so.1"});
  EXPECT_EQ(none.code(), Code::unsupported);
  EXPECT_THAT(none.status().text, HasSubstr("libnosuch.so.1"));
  const auto half = cuda::open({.library = "libc.so.6"});
  EXPECT_EQ(half.code(), Code::unsupported);
  EXPECT_THAT(half.status().text, HasSubstr("libc.so.6 has no cuInit"));
}

TEST(Cuda, HasNoSecondDevice) {
  const auto second = cuda::open({.library = KVROOF_CUDA_DOUBLE, .ordinal = 1});
  EXPECT_EQ(second.code(), Code::unsupported);
  EXPECT_THAT(second.status().text, HasSubstr("no cuda:1"));
}

TEST(Cuda, HostMemoryIsRegisteredInPieces) {
  const auto device = open_pieces();
  EXPECT_EQ(device->info().max_registration_bytes, 4096u);
  const auto buffer = device->allocate({.kind = MemoryKind::pinned, .bytes = 3 * 4096 + 1});
  ASSERT_TRUE(buffer.ok());
  EXPECT_EQ((*buffer)->facts().pieces, 4u);
  std::vector<std::byte> mine(3 * 4096);
  const auto adopted = device->adopt(mine.data(), mine.size());
  ASSERT_TRUE(adopted.ok());
  EXPECT_EQ((*adopted)->facts().kind, MemoryKind::pinned);
}

TEST(Cuda, MemoryThatTheDriverDoesNotRegisterSaysSo) {
  const auto device = open_pieces();
  cuda_double::fail("cuMemHostRegister_v2", 1, /*after=*/2);
  const auto buffer = device->allocate({.kind = MemoryKind::pinned, .bytes = 4 * 4096});
  ASSERT_TRUE(buffer.ok());
  EXPECT_EQ((*buffer)->facts().kind, MemoryKind::pageable);
  EXPECT_EQ((*buffer)->facts().pieces, 1u);
}

// In, on, and out again through two lanes; false and why where anything of it fails.
Status round_trip(Device& device) {
  constexpr std::uint64_t kBytes = 3 * 4096;
  auto host = device.allocate({.kind = MemoryKind::pinned, .bytes = kBytes});
  if (!host) return host.status();
  auto plain = device.allocate({.kind = MemoryKind::pageable, .bytes = kBytes});
  if (!plain) return plain.status();
  auto there = device.allocate({.kind = MemoryKind::device, .bytes = kBytes});
  if (!there) return there.status();
  auto in = device.open_queue(QueueKind::copy_in, Priority::high);
  if (!in) return in.status();
  auto out = device.open_queue(QueueKind::copy_out, Priority::low);
  if (!out) return out.status();
  std::memset((*host)->host().data(), 0x5a, kBytes);
  const Region enter{{host->get(), 0, kBytes}, {there->get(), 0, kBytes}};
  const Region leave{{there->get(), 0, kBytes}, {plain->get(), 0, kBytes}};
  auto entered = (*in)->submit({.fences = {}, .body = Regions{{&enter, 1}, CopyMethod::batch}});
  if (entered.code() == Code::unsupported) {
    entered = (*in)->submit({.fences = {}, .body = Regions{{&enter, 1}}});
  }
  if (!entered) return entered.status();
  const Point first{in->get(), *entered};
  auto left = (*out)->submit({.fences = {&first, 1}, .body = Regions{{&leave, 1}}});
  if (!left) return left.status();
  const Point last{out->get(), *left};
  const auto waited = device.wait_any({&last, 1}, device.now() + std::chrono::seconds(30));
  if (!waited) return waited.status();
  Completion done;
  const auto reaped = (*out)->reap({&done, 1});
  if (!reaped) return reaped.status();
  if (!done.status.ok()) return done.status;
  const auto view = (*plain)->host();
  for (const std::byte byte : view) {
    if (byte != std::byte{0x5a}) return {Code::failed, "wrong bytes and no error"};
  }
  return {};
}

Status open_and_round_trip() {
  auto device = open();
  return device ? round_trip(**device) : device.status();
}

TEST(Cuda, RoundTripsThroughThePageableWay) { EXPECT_EQ(open_and_round_trip().text, ""); }

class EntryPoint : public testing::TestWithParam<const char*> {};

// The work succeeds all the same, or ends with a status that has words: no crash, no hang, no leak.
TEST_P(EntryPoint, MayFailOnceAtAnyCallOrAlways) {
  constexpr int kUnknown = 999, kCalls = 12;
  for (int after = 0; after <= kCalls; ++after) {
    if (after < kCalls) {
      cuda_double::fail(GetParam(), kUnknown, after);
    } else {
      cuda_double::fail_always(GetParam(), kUnknown);
    }
    const Status status = open_and_round_trip();
    if (status.ok()) continue;
    EXPECT_THAT(status.text, Not(HasSubstr("wrong bytes")));
    EXPECT_FALSE(status.text.empty());
  }
}

INSTANTIATE_TEST_SUITE_P(
    Each, EntryPoint,
    testing::Values("cuInit", "cuDriverGetVersion", "cuDeviceGetCount", "cuDeviceGet",
                    "cuDeviceGetName", "cuDeviceGetPCIBusId", "cuDevicePrimaryCtxRetain",
                    "cuCtxSetCurrent", "cuCtxGetStreamPriorityRange", "cuMemGetInfo_v2",
                    "cuMemAlloc_v2", "cuMemHostRegister_v2", "cuStreamCreateWithPriority",
                    "cuStreamWaitEvent", "cuEventCreate", "cuEventRecord", "cuEventQuery",
                    "cuEventElapsedTime", "cuStreamSynchronize", "cuMemFree_v2",
                    "cuMemHostUnregister", "cuStreamDestroy_v2", "cuEventDestroy_v2",
                    "cuMemcpyDtoHAsync_v2", "cuMemcpyBatchAsync", "cuLaunchHostFunc"),
    [](const auto& param) { return std::string(param.param); });

// A device that is gone completes what is open as lost, and takes nothing more.
TEST(Cuda, ALostDeviceLosesEveryOpenTicket) {
  constexpr int kLaunchFailed = 719;
  const auto device = open_cuda();
  const auto held = std::move(*device->open_queue(QueueKind::compute, Priority::normal));
  const auto lane = std::move(*device->open_queue(QueueKind::copy_in, Priority::normal));
  const Point hold{held.get(), *held->submit({.fences = {}, .body = Hold{1}})};
  ASSERT_TRUE(lane->submit({.fences = {&hold, 1}, .body = Regions{}}).ok());
  const auto sent = std::move(*device->open_queue(QueueKind::copy_in, Priority::normal));
  ASSERT_TRUE(sent->submit({.fences = {}, .body = Regions{}}).ok());
  cuda_double::fail("cuEventQuery", kLaunchFailed);
  for (Queue* queue : {held.get(), lane.get(), sent.get()}) {
    const Point open_ticket{queue, 1};
    ASSERT_TRUE(device->wait_any({&open_ticket, 1}, Nanos::max()).ok());
    Completion done;
    ASSERT_EQ(*queue->reap({&done, 1}), 1u);
    EXPECT_EQ(done.status.code, Code::lost) << done.status.text;
    EXPECT_EQ(queue->submit({.fences = {}, .body = Regions{}}).code(), Code::lost);
  }
}

}  // namespace
}  // namespace kvroof::conformance
