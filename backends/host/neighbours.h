// SPDX-License-Identifier: Apache-2.0
// What this device's disk lanes see of its other lanes.
#pragma once
#include <utility>

#include "backends/disk/neighbours.h"
#include "backends/host/ops.h"
#include "backends/host/state.h"

namespace kvroof::host {

class HostNeighbours final : public disk::Neighbours {
 public:
  HostNeighbours(State& state, Ops& ops) : state_(state), ops_(ops) {}

  std::mutex& mutex() override { return state_.mutex; }
  void join(const Queue& queue, std::shared_ptr<Timeline> timeline) override {
    state_.timelines[&queue] = std::move(timeline);
  }
  void leave(const Queue& queue) override { state_.timelines.erase(&queue); }
  std::shared_ptr<Timeline> find(const Point& point) override { return state_.find(point); }
  bool gate_is_open(Gate gate) override { return state_.open_gates.contains(gate); }
  void wait(std::unique_lock<std::mutex>& lock, const std::function<bool()>& holds) override {
    state_.changed.wait(lock, holds);
  }
  void changed() override { state_.changed.notify_all(); }
  void written(const std::byte* data, std::uint64_t bytes) override { ops_.written(data, bytes); }

 private:
  State& state_;
  Ops& ops_;
};

}  // namespace kvroof::host
