// SPDX-License-Identifier: Apache-2.0
#include "backends/faults/faulty_device.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "backends/faults/draws.h"
#include "backends/faults/queue.h"
#include "backends/queues/lane.h"

namespace kvroof::faults {
namespace {

constexpr std::uint64_t kCallStream = ~std::uint64_t{0};  // no queue has this number

}  // namespace

FaultyDevice::FaultyDevice(std::unique_ptr<Device> inner, Faults with)
    : faults(std::move(with)), inner_(std::move(inner)), info_(inner_->info()), delays_(*inner_) {
  info_.sums_copies = false;  // a sum of the source would not see what is done to the destination
  if (faults.max_regions > 0) info_.max_regions = faults.max_regions;
  if (faults.max_open_tickets > 0) info_.max_open_tickets = faults.max_open_tickets;
  if (faults.max_registration_bytes > 0) {
    info_.max_registration_bytes = faults.max_registration_bytes;
  }
  if (faults.numa_node >= 0) info_.numa_node = faults.numa_node;
}

Status FaultyDevice::gone() {
  return {Code::lost, "The device is lost, as an injected fault says: nothing on it can be used."};
}

// Delays end while it waits, and no later than what it waits for.
Result<std::size_t> FaultyDevice::wait_any(std::span<const Point> points, Nanos deadline) noexcept {
  std::vector<Point> inner;
  for (const Point& point : points) {
    inner.push_back(FaultyQueue::unwrapped(point));
    if (inner.back().queue == nullptr) return queues::unknown_point();
  }
  for (;;) {
    delays_.end_due();
    const Nanos next = delays_.next_end();
    auto waited = wait_once(inner, std::min(deadline, next));
    if (waited.ok()) {
      static_cast<FaultyQueue*>(points[*waited].queue)->seen_complete(points[*waited].ticket);
      return waited;
    }
    if (waited.code() != Code::timeout || deadline <= next) return waited;
  }
}

// Where virtual time has nothing left to do, it passes until the deadline all the same, if that is
// one: a delay may end then.
Result<std::size_t> FaultyDevice::wait_once(std::span<const Point> inner, Nanos deadline) {
  auto waited = inner_->wait_any(inner, deadline);
  if (waited.code() != Code::stuck || delays_.next_end() == Nanos::max()) return waited;
  return inner_->wait_any({}, deadline);
}

Result<std::unique_ptr<Buffer>> FaultyDevice::allocate(const BufferSpec& spec) noexcept {
  if (is_lost()) return gone();
  if (happens(faults.no_memory, no_memory_)) {
    return Status{Code::no_memory, "The device has no memory left, as an injected fault says."};
  }
  BufferSpec changed = spec;
  const std::uint64_t ceiling = info_.max_registration_bytes;
  const bool pageable = faults.pageable || (ceiling > 0 && spec.bytes > ceiling);
  if (pageable && spec.kind == MemoryKind::pinned) changed.kind = MemoryKind::pageable;
  return inner_->allocate(changed);
}

Result<std::unique_ptr<Buffer>> FaultyDevice::adopt(void* host, std::uint64_t bytes) noexcept {
  if (is_lost()) return gone();
  return inner_->adopt(host, bytes);
}

Result<std::unique_ptr<Queue>> FaultyDevice::open_queue(QueueKind kind,
                                                        Priority priority) noexcept {
  if (is_lost()) return gone();
  if (happens(faults.no_queue, no_queue_)) {
    return Status{Code::failed, "The queue can't be opened, as an injected fault says."};
  }
  auto queue = inner_->open_queue(kind, priority);
  if (!queue.ok()) return queue;
  ++open_queues_;
  return std::unique_ptr<Queue>(
      std::make_unique<FaultyQueue>(*this, std::move(*queue), opened_queues_++));
}

Status FaultyDevice::open_gate(Gate gate) noexcept {
  if (is_lost()) return gone();
  return inner_->open_gate(gate);
}

void FaultyDevice::holds_at(Gate gate) {
  const std::lock_guard guard(gates_lock_);
  gates_.insert(gate);
  if (is_lost()) (void)inner_->open_gate(gate);
}

// What is held or delayed must end too. Nothing comes after: submissions are refused from here on.
void FaultyDevice::lose() {
  if (lost_.exchange(true)) return;
  count(Fault::lost);
  delays_.end_all();
  const std::lock_guard guard(gates_lock_);
  for (const Gate gate : gates_) (void)inner_->open_gate(gate);
}

FaultCounts FaultyDevice::counts() const {
  FaultCounts counts;
  std::copy(counts_.begin(), counts_.end(), counts.of.begin());
  counts.no_memory = no_memory_;
  counts.no_queue = no_queue_;
  return counts;
}

bool FaultyDevice::happens(double probability, std::atomic<std::uint64_t>& count) {
  if (probability <= 0 || unit(draw(faults.seed, kCallStream, ++calls_)) >= probability) {
    return false;
  }
  ++count;
  return true;
}

Fault FaultyDevice::fault_of(QueueKind kind, Ticket ticket, const Work& work,
                             std::uint64_t draw) const {
  if (faults.fails && faults.fails(kind, ticket)) return Fault::failed;
  const auto* op = std::get_if<Op>(&work.body);
  if (op != nullptr && faults.fails_op && faults.fails_op(*op)) return Fault::failed;
  const Fault chosen = faults.fault_of ? faults.fault_of(kind, ticket) : Fault::none;
  if (chosen != Fault::none) return chosen;
  return faults.rates[static_cast<std::size_t>(kind)].at(unit(draw));
}

Result<Point> FaultyDevice::delay(const Queue& lane, Fault fault, std::uint64_t draw) {
  if (fault == Fault::unending) return delays_.begin(lane, Nanos::max(), false);
  const Nanos span = std::max(faults.longest_delay, Nanos(1));
  const Nanos late(1 + static_cast<Nanos::rep>(draw % static_cast<std::uint64_t>(span.count())));
  const bool overtaken = fault == Fault::overtaken;
  return delays_.begin(lane, now() + (overtaken ? span : late), overtaken);
}

}  // namespace kvroof::faults
