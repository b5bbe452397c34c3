// SPDX-License-Identifier: Apache-2.0
// The accelerator of a schedule: its cache, and one compute lane that writes and reads blocks of it
// behind whatever it is told to wait for. Its work meets faults too.
#pragma once
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "backends/api/device.h"
#include "tests/schedules/contents.h"

namespace kvroof::schedules {

class Accelerator {
 public:
  // Null where the device refuses.
  static std::unique_ptr<Accelerator> create(Device& device, const KvLayout& kv);

  // Writes a block; empty where the lane refuses. The point completes well only if what was written
  // is the piece, whole.
  std::optional<Point> write(BlockId block, const Piece& piece, std::span<const Point> fences);

  // Reads a block into `place` of what was read; as above.
  std::optional<Point> read(BlockId block, std::uint32_t place, std::span<const Point> fences);
  bool is(std::uint32_t place, const Piece& piece) const;  // what was read there

  // How a ticket ended, once it has.
  std::optional<Status> ended(Ticket ticket);

  Buffer& cache() { return *cache_; }
  Point last() const { return {queue_.get(), submitted_}; }
  bool idle() const { return reaped_ == submitted_; }

 private:
  Accelerator(Device& device, const KvLayout& kv) : device_(device), kv_(kv) {}
  std::optional<Point> submit(const Work& work);
  bool make_room();
  void reap();

  Device& device_;
  KvLayout kv_;
  std::unique_ptr<Buffer> cache_, seen_;
  std::unique_ptr<Queue> queue_;
  Ticket submitted_ = 0, reaped_ = 0;
  std::map<Ticket, Status> failed_;
};

}  // namespace kvroof::schedules
