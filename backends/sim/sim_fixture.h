// SPDX-License-Identifier: Apache-2.0
// What the simulator's own tests share: the made-up device, opened, and short ways to use it.
#pragma once
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <vector>

#include "backends/sim/adapter.h"
#include "backends/sim/test_profile.h"

namespace kvroof::sim {

class SimFixture : public testing::Test {
 protected:
  explicit SimFixture(const std::string& profile = test_profile()) {
    DeviceSpec spec;
    spec.adapter = "sim";
    spec.profile_text = profile;
    device_ = std::move(*open(spec));
  }

  std::unique_ptr<Buffer> buffer(MemoryKind kind, std::uint64_t bytes, bool backed = true) {
    return std::move(*device_->allocate({.kind = kind, .bytes = bytes, .backed = backed}));
  }
  std::unique_ptr<Queue> queue(QueueKind kind) {
    return std::move(*device_->open_queue(kind, Priority::normal));
  }
  Nanos finish(Queue& queue, Ticket ticket) {
    const Point point{&queue, ticket};
    EXPECT_TRUE(device_->wait_any({&point, 1}, Nanos::max()).ok());
    return device_->now();
  }
  static std::vector<Completion> reap_all(Queue& queue) {
    std::vector<Completion> out(64);
    out.resize(*queue.reap(out));
    return out;
  }
  static Region whole(Buffer& source, Buffer& destination) {
    return {{&source, 0, source.facts().bytes}, {&destination, 0, destination.facts().bytes}};
  }
  static Work copy(const Region& region, std::span<const Point> fences = {}) {
    return {fences, Regions{{&region, 1}, CopyMethod::dma}};
  }

  std::unique_ptr<Device> device_;
};

}  // namespace kvroof::sim
