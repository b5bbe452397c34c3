// SPDX-License-Identifier: Apache-2.0
// One in-order lane: a thread that takes submissions as they come, waits for their fences, and runs
// them (copies with the help of its crew).
#pragma once
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <variant>
#include <vector>

#include "backends/api/queue.h"
#include "backends/host/copy_crew.h"
#include "backends/host/ops.h"
#include "backends/host/pacer.h"
#include "backends/host/state.h"

namespace kvroof::host {

struct QueueLimits {
  std::uint64_t max_regions, max_open_tickets;
};

class HostQueue final : public Queue {
 public:
  // `owner` is the device; `state`, `ops` and `pacer` (null: copies run as fast as they can)
  // outlive the queue.
  HostQueue(QueueKind kind, unsigned copy_workers, QueueLimits limits, const void* owner,
            State& state, Ops& ops, Pacer* pacer = nullptr);
  ~HostQueue() override;

  QueueKind kind() const noexcept override { return kind_; }
  Result<Ticket> submit(const Work& work) noexcept override;
  Result<std::size_t> reap(std::span<Completion> out) noexcept override;

 private:
  struct Fence {
    std::shared_ptr<const Timeline> timeline;
    Ticket ticket;
  };
  struct Copies {
    std::vector<Piece> pieces;
    bool by_compute = false;  // by the threads that run ops, which run none meanwhile
  };
  struct Set {
    Piece target;  // no source
    std::uint8_t value;
  };
  struct Run {
    std::vector<Op> ops;
    std::uint32_t times;
  };
  using Body = std::variant<Copies, Op, Run, Set, Hold>;
  struct Item {
    std::vector<Fence> fences;
    Body body;
    Nanos ready{};  // nothing but earlier copies of this lane has kept it waiting since
  };

  Result<Body> take_in(const Work& work) const;

  void run();
  Completion execute(Item& item, std::unique_lock<std::mutex>& lock);
  Status await_fence(const Fence& fence, Item& item, std::unique_lock<std::mutex>& lock);
  Status hold(Gate gate, std::unique_lock<std::mutex>& lock);
  Status perform(const Item& item) noexcept;
  Status perform(const Run& run);
  Result<Body> take_in(const Regions& regions) const;
  void copy(const Copies& copies);
  void copy_paced(const Copies& copies, Nanos ready);
  void announce(const Body& body);

  const QueueKind kind_;
  const QueueLimits limits_;
  const void* const owner_;
  State& state_;
  Ops& ops_;
  Pacer* const pacer_;
  CopyCrew crew_;
  Nanos other_work_done_{};  // the last that was no copy; the lane thread's alone

  // Guarded by state_.mutex.
  std::shared_ptr<Timeline> timeline_ = std::make_shared<Timeline>();
  std::deque<Item> pending_;
  std::condition_variable arrived_;
  bool draining_ = false;

  std::thread thread_;  // last: it uses all of the above
};

}  // namespace kvroof::host
