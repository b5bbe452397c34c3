// SPDX-License-Identifier: Apache-2.0
// The simulated device: its facts, its memory, its clock.
#include <nlohmann/json.hpp>

#include "backends/sim/sim_fixture.h"

namespace kvroof::sim {
namespace {

using namespace std::chrono_literals;

class SimDeviceTest : public SimFixture {};

TEST_F(SimDeviceTest, SaysWhatItIs) {
  const DeviceInfo& info = device_->info();
  EXPECT_EQ(info.backend, "sim");
  EXPECT_EQ(info.basis, Basis::datasheet);
  EXPECT_TRUE(info.virtual_time);
  EXPECT_FALSE(info.computes_values);
  EXPECT_EQ(info.memory_bytes, 1'000'000'000u);
  EXPECT_EQ(info.peaks.link_in, 10e9);
  EXPECT_EQ(info.profile_json, test_profile());
}

TEST_F(SimDeviceTest, MemoryIsLimitedAndReturned) {
  auto most = buffer(MemoryKind::device, 900'000'000, false);
  const BufferSpec more{MemoryKind::device, 200'000'000, -1, false};
  EXPECT_EQ(device_->allocate(more).code(), Code::no_memory);
  most.reset();
  EXPECT_TRUE(device_->allocate(more).ok());
  EXPECT_EQ(device_->allocate({MemoryKind::pinned, 5'000'000'000, -1, false}).code(),
            Code::no_memory);
  EXPECT_EQ(device_->allocate({MemoryKind::device, 0}).code(), Code::invalid);
}

TEST_F(SimDeviceTest, ViewsAreTheHostsAndZeroed) {
  const auto host = buffer(MemoryKind::pinned, 4096);
  EXPECT_EQ(host->host().size(), 4096u);
  EXPECT_EQ(host->host()[4095], std::byte{0});
  EXPECT_TRUE(host->facts().backed);
  EXPECT_TRUE(buffer(MemoryKind::device, 4096)->host().empty());
  const auto unbacked = buffer(MemoryKind::pinned, 4096, false);
  EXPECT_TRUE(unbacked->host().empty());
  EXPECT_FALSE(unbacked->facts().backed);
}

TEST_F(SimDeviceTest, AdoptsMemoryOfOthers) {
  std::vector<std::byte> memory(16, std::byte{5});
  const auto adopted = std::move(*device_->adopt(memory.data(), memory.size()));
  EXPECT_EQ(adopted->host().data(), memory.data());
  EXPECT_EQ(device_->adopt(nullptr, 16).code(), Code::invalid);
  EXPECT_EQ(device_->adopt(memory.data(), 0).code(), Code::invalid);
}

TEST(SimDevice, WithoutADiskInItsProfileHasNoDiskQueues) {
  nlohmann::json profile = nlohmann::json::parse(test_profile());
  profile.erase("disk");
  DeviceSpec spec;
  spec.adapter = "sim";
  spec.profile_text = profile.dump();
  const auto device = std::move(*open(spec));
  EXPECT_EQ(device->open_queue(QueueKind::disk_read, Priority::normal).code(), Code::unsupported);
  EXPECT_EQ(device->open_queue(QueueKind::disk_write, Priority::normal).code(), Code::unsupported);
}

TEST_F(SimDeviceTest, ADeadlineIsMetToTheNanosecond) {
  const auto host = buffer(MemoryKind::pinned, 1'000'000);
  const auto memory = buffer(MemoryKind::device, 1'000'000);
  const auto in = queue(QueueKind::copy_in);
  const Region region = whole(*host, *memory);
  const Point point{in.get(), *in->submit(copy(region))};  // ends at 102 us
  EXPECT_EQ(device_->wait_any({&point, 1}, 101'999ns).code(), Code::timeout);
  EXPECT_EQ(device_->now(), 101'999ns);
  EXPECT_EQ(device_->wait_any({&point, 1}, 50us).code(), Code::timeout);
  EXPECT_EQ(device_->now(), 101'999ns);
  EXPECT_EQ(*device_->wait_any({&point, 1}, 102us), 0u);
  EXPECT_EQ(device_->now(), 102us);
}

TEST_F(SimDeviceTest, AnswersTheLowestIndexOfWhatIsDone) {
  const auto a = queue(QueueKind::host), b = queue(QueueKind::host);
  const Point points[] = {{a.get(), *a->submit({{}, Spend{9us}})},
                          {b.get(), *b->submit({{}, Spend{1us}})}};
  EXPECT_EQ(*device_->wait_any(points, Nanos::max()), 0u);  // one CPU: first come, first served
  const Point both[] = {points[1], points[0]};
  EXPECT_EQ(*device_->wait_any(both, Nanos::max()), 1u);
  EXPECT_EQ(device_->now(), 9us);
  EXPECT_EQ(*device_->wait_any({both, 1}, Nanos::max()), 0u);
  EXPECT_EQ(*device_->wait_any(both, Nanos::max()), 0u);
}

TEST_F(SimDeviceTest, RefusesPointsThatWereNeverReturned) {
  const auto lane = queue(QueueKind::host);
  const Point future{lane.get(), 1};
  EXPECT_EQ(device_->wait_any({&future, 1}, Nanos::max()).code(), Code::invalid);
}

TEST_F(SimDeviceTest, WaitingForNothingPassesTheTime) {
  EXPECT_EQ(device_->wait_any({}, 70us).code(), Code::timeout);
  EXPECT_EQ(device_->now(), 70us);
  EXPECT_EQ(device_->wait_any({}, Nanos::max()).code(), Code::stuck);
}

TEST(SimAdapter, OpensWhatAProfileDescribesAndRefusesTheRestByName) {
  EXPECT_EQ(probe().state, AdapterState::ready);
  EXPECT_TRUE(probe().devices.empty());
  DeviceSpec spec;
  EXPECT_EQ(open(spec).code(), Code::invalid);
  spec.profile_text = test_profile();
  EXPECT_TRUE(open(spec).ok());
  spec.options["link"] = "pcie9x16";
  EXPECT_NE(open(spec).status().text.find("'pcie9x16' is not known"), std::string::npos);
  spec.options = {{"links", "pcie4x16"}};
  EXPECT_NE(open(spec).status().text.find("no option 'links'"), std::string::npos);
  spec.options = {{"devices", "4"}};
  EXPECT_NE(open(spec).status().text.find("'*4' asks for several"), std::string::npos);
}

TEST(SimAdapter, ARankHasItsPartOfTheHost) {
  const auto opened = [](std::uint32_t ranks) {
    DeviceSpec spec;
    spec.adapter = "sim";
    spec.profile_text = test_profile();
    spec.ranks = ranks;
    return open(spec);
  };
  const auto whole = opened(1), part = opened(4);
  ASSERT_TRUE(whole.ok() && part.ok());
  EXPECT_EQ(4 * (*part)->info().host_memory_bytes, (*whole)->info().host_memory_bytes);
  EXPECT_EQ((*part)->info().memory_bytes, (*whole)->info().memory_bytes);
  EXPECT_EQ((*part)->info().name, (*whole)->info().name + ", one of 4");
}

}  // namespace
}  // namespace kvroof::sim
