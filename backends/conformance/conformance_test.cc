// SPDX-License-Identifier: Apache-2.0
// Every adapter that can run here, one line each. The null device keeps the rules; it neither holds
// nor moves bytes, and claims neither.
#include "backends/conformance/null_device.h"
#include "backends/conformance/scratch.h"
#include "backends/conformance/suite.h"
#include "backends/host/device.h"
#include "backends/host/info.h"
#include "backends/registry/registry.h"
#include "backends/sim/test_profile.h"

namespace kvroof::conformance {
namespace {

std::unique_ptr<Device> open(std::string_view text, const std::string& profile = {}) {
  DeviceSpec spec = *parse_device(text);
  spec.profile_text = profile;
  auto device = open_device(spec);
  if (!device) ADD_FAILURE() << device.status().text;
  return device ? std::move(*device) : nullptr;
}

std::unique_ptr<Device> open_host() { return open("host"); }
std::unique_ptr<Device> open_host_with_threads() {
  return std::make_unique<host::HostDevice>(host::describe(), std::nullopt, disk::Way::threads);
}
std::unique_ptr<Device> open_sim() { return open("sim:test", sim::test_profile()); }

KVROOF_CONFORMANCE(null, make_null_device, rule_checks);
KVROOF_CONFORMANCE(host, open_host, rule_checks, hold_checks, byte_checks, sum_checks, op_checks,
                   file_checks);
KVROOF_CONFORMANCE(sim, open_sim, rule_checks, hold_checks, byte_checks, sum_checks, op_checks,
                   row_checks, file_checks);
// Where the kernel gives out no io_uring.
KVROOF_CONFORMANCE(host_threads, open_host_with_threads, file_checks);

TEST(NullDevice, FilesCompleteAtOnceAndAreNone) {
  const auto device = make_null_device();
  const auto buffer = std::move(*device->allocate({MemoryKind::pinned, 4096}));
  const Scratch scratch;
  const Span piece{buffer.get(), 0, 4096};
  const auto writes = std::move(*device->open_queue(QueueKind::disk_write, Priority::normal));
  const WriteFile file{&scratch.directory, "t", "f", {&piece, 1}};
  EXPECT_EQ(*writes->submit({{}, file}), 1u);
  Completion done;
  EXPECT_EQ(*writes->reap({&done, 1}), 1u);
  EXPECT_TRUE(done.status.ok());
  EXPECT_FALSE(scratch.has("f"));
  const WriteFile escapes{&scratch.directory, "t", "../f", {&piece, 1}};
  EXPECT_EQ(writes->submit({{}, escapes}).code(), Code::invalid);
  const auto reads = std::move(*device->open_queue(QueueKind::disk_read, Priority::normal));
  EXPECT_EQ(reads->submit({{}, file}).code(), Code::invalid);
  EXPECT_TRUE(reads->submit({{}, ReadFile{&scratch.directory, "f", {&piece, 1}}}).ok());
}

}  // namespace
}  // namespace kvroof::conformance
