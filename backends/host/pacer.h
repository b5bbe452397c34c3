// SPDX-License-Identifier: Apache-2.0
// A slower link than the machine's: the copies of one direction share a rate.
#pragma once
#include <cstdint>
#include <mutex>

#include "backends/api/queue.h"

namespace kvroof::host {

// Hands out absolute deadlines, in the order in which lanes begin. Lanes copy as fast as they can
// and then sleep until theirs.
class Pacer {
 public:
  explicit Pacer(double bytes_per_second) : rate_(bytes_per_second) {}

  // When `bytes` may have landed, which a lane turns to at `now`. What was `ready` before the link
  // had carried everything handed out so far follows without a gap: a lane that woke up late has
  // not made the link slower. On an idle link the time counts from now.
  Nanos deadline(Nanos ready, Nanos now, std::uint64_t bytes);

 private:
  const double rate_;
  std::mutex mutex_;
  Nanos free_{};  // when the link has carried everything so far
};

}  // namespace kvroof::host
