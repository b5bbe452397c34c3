// SPDX-License-Identifier: Apache-2.0
// One in-order lane of the simulator: its head is blocked by fences, being submitted, or running.
#pragma once
#include <deque>
#include <vector>

#include "backends/api/queue.h"
#include "backends/sim/job.h"
#include "backends/sim/machine/machine.h"

namespace kvroof::sim {

class SimDevice;

class SimQueue final : public Queue, public Sleeper {
 public:
  SimQueue(SimDevice& device, QueueKind kind);
  ~SimQueue() override;
  SimQueue(const SimQueue&) = delete;
  SimQueue& operator=(const SimQueue&) = delete;

  QueueKind kind() const noexcept override { return kind_; }
  Result<Ticket> submit(const Work& work) noexcept override;
  Result<std::size_t> reap(std::span<Completion> out) noexcept override;
  DiskFacts disk_facts() const override;

  // The rest is the device's, under its lock.
  SimDevice& device() const { return device_; }
  bool idle() const { return jobs_.empty(); }
  Ticket submitted() const { return submitted_; }
  bool completed(Ticket ticket) const { return ticket <= submitted_ - jobs_.size(); }
  bool failed(Ticket ticket) const;  // of a completed one
  Job& open_job(Ticket ticket);      // of one that is not completed
  void wake() override;
  void gate_opened();
  void fence_resolved(Job& job);
  void forget_dependent(const Job& job);

 private:
  enum class State : std::uint8_t { idle, blocked, submitting, holding, running, aborting };

  void add_fences(Job& job, std::span<const Point> fences);
  void take_cpu(Job& job, const Work& work);
  void begin_head();
  void begin_spend(Job& job);
  void run_head();
  void complete_head(Status status);
  void abort_head(const char* why);
  void drain();

  SimDevice& device_;
  const QueueKind kind_;
  State state_ = State::idle;
  Ticket submitted_ = 0;
  std::deque<Job> jobs_;         // not completed; the front is the head
  std::deque<Completion> done_;  // completed and not reaped
  std::vector<Ticket> failed_;   // in rising order; remembered as long as the queue lives
  DiskFacts disk_facts_;
};

}  // namespace kvroof::sim
