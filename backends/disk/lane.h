// SPDX-License-Identifier: Apache-2.0
// A disk queue of a device with a real clock: a thread that takes submissions as they come, waits
// for their fences and hands files to the engine, which has many under way.
#pragma once
#include <condition_variable>
#include <deque>
#include <memory>
#include <optional>
#include <thread>
#include <variant>
#include <vector>

#include "backends/api/queue.h"
#include "backends/disk/engine.h"
#include "backends/disk/neighbours.h"

namespace kvroof::disk {

struct LaneLimits {
  std::uint64_t max_regions, max_open_tickets;
};

class DiskQueue final : public Queue {
 public:
  // `owner` is the device that buffers name; `neighbours` outlive the queue.
  DiskQueue(QueueKind kind, LaneLimits limits, const void* owner, Neighbours& neighbours,
            Way way = Way::best);
  ~DiskQueue() override;

  QueueKind kind() const noexcept override { return kind_; }
  Result<Ticket> submit(const Work& work) noexcept override;
  Result<std::size_t> reap(std::span<Completion> out) noexcept override;
  DiskFacts disk_facts() const override { return engine_->facts(); }

 private:
  struct Fence {
    std::shared_ptr<queues::Timeline> timeline;
    Ticket ticket;
  };
  struct Marker {};
  using Body = std::variant<FileJob, Hold, Marker>;
  struct Item {
    std::vector<Fence> fences;
    Body body;
  };
  using Lock = std::unique_lock<std::mutex>;

  Result<Body> take_in(const Work& work) const;
  Result<std::vector<Fence>> find(std::span<const Point> fences) const;

  void run();
  Status pass(const Item& item, Lock& lock);
  Status await(const Fence& fence, Lock& lock);
  Status hold(Gate gate, Lock& lock);
  void start(FileJob job, Lock& lock);
  void ended(const FileJob& job, Status status);
  void complete(Ticket ticket, Completion completion);

  const QueueKind kind_;
  const LaneLimits limits_;
  const void* const owner_;
  Neighbours& neighbours_;

  // Guarded by the neighbours' mutex.
  std::shared_ptr<queues::Timeline> timeline_ = std::make_shared<queues::Timeline>();
  std::deque<Item> pending_;                        // issued and not started
  std::deque<std::optional<Completion>> outcomes_;  // from completed + 1 on, as they come
  unsigned under_way_ = 0;
  std::condition_variable arrived_, room_;
  bool draining_ = false;

  std::unique_ptr<Engine> engine_;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace kvroof::disk
