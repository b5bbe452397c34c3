// SPDX-License-Identifier: Apache-2.0
// One in-order lane over one stream of the driver. No thread of its own: work is sent by whoever
// makes it certain, and completions are seen by whoever asks.
#pragma once
#include "backends/stream/state.h"

namespace kvroof::stream {

// Why regions are refused, for a device's facts as well.
inline constexpr char kNoCopyKernels[] = "this device has no copy kernels; copy by dma or batch";
inline constexpr char kNoBatch[] = "this driver has no batched copies; copy by dma";

struct QueueLimits {
  std::uint64_t max_regions, max_open_tickets;
};

class StreamQueue final : public Queue {
 public:
  // Takes over `stream`. `owner` is the device, and `state` outlives the queue.
  StreamQueue(QueueKind kind, QueueLimits limits, const void* owner, State& state, Stream stream);
  ~StreamQueue() override;

  QueueKind kind() const noexcept override { return kind_; }
  Result<Ticket> submit(const Work& work) noexcept override;
  Result<std::size_t> reap(std::span<Completion> out) noexcept override;

  // Under the state's lock.
  const std::shared_ptr<Timeline>& timeline() const { return timeline_; }
  bool advance();  // true: something was sent
  void poll();
  void lose();  // every open ticket completes with the state's `lost`

 private:
  Result<Waiting> take_in(const Work& work) const;
  bool certain(const Waiting& item) const;
  Flight launch(Waiting& item);
  Status depend(const Fence& fence);
  Status send(const Waiting& item, Flight& flight);
  Status send(const Copies& copies, HostTasks& tasks);
  Status send(const Set& set, HostTasks& tasks);
  void land(Flight& flight);
  void fit(Interval& interval, Nanos sent);
  void complete(Completion completion);
  void forget(Flight& flight);

  const QueueKind kind_;
  const QueueLimits limits_;
  const void* const owner_;
  State& state_;
  const Stream stream_;
  Bounce bounce_;
  std::shared_ptr<Timeline> timeline_ = std::make_shared<Timeline>();
  Nanos last_end_{};
  bool closing_ = false;
};

}  // namespace kvroof::stream
