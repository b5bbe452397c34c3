// SPDX-License-Identifier: Apache-2.0
// What a disk lane needs of the device that it belongs to: the other lanes' progress, gates, and
// the lock and the sleep that all of them share.
#pragma once
#include <functional>
#include <memory>
#include <mutex>

#include "backends/queues/timeline.h"

namespace kvroof::disk {

// All calls but mutex() and written() are made under that lock.
class Neighbours {
 public:
  virtual std::mutex& mutex() = 0;
  virtual void join(const Queue& queue, std::shared_ptr<queues::Timeline> timeline) = 0;
  virtual void leave(const Queue& queue) = 0;

  // The timeline of a point that submit() has returned already, else null.
  virtual std::shared_ptr<queues::Timeline> find(const Point& point) = 0;
  virtual bool gate_is_open(Gate gate) = 0;

  // Sleeps until `holds`, which is looked at again after every changed().
  virtual void wait(std::unique_lock<std::mutex>& lock, const std::function<bool()>& holds) = 0;
  virtual void changed() = 0;  // something completed, or waits, or drains

  // Host memory that a file is being read into has been, or may be, overwritten.
  virtual void written(const std::byte* data, std::uint64_t bytes) = 0;

 protected:
  ~Neighbours() = default;
};

}  // namespace kvroof::disk
