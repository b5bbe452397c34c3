// SPDX-License-Identifier: Apache-2.0
// A slower link than the machine's: the copies of one direction share a rate.
#pragma once
#include <cstdint>
#include <mutex>

#include "backends/api/queue.h"

namespace kvroof::host {

// Hands out absolute deadlines: `bytes` that begin at `now` may have landed by the end of all that
// was handed out before, or by now, plus bytes / rate. Lanes copy as fast as they can and then
// sleep until theirs.
class Pacer {
 public:
  explicit Pacer(double bytes_per_second) : rate_(bytes_per_second) {}

  Nanos deadline(Nanos now, std::uint64_t bytes);

 private:
  const double rate_;
  std::mutex mutex_;
  Nanos free_{};  // when the link has carried everything so far
};

}  // namespace kvroof::host
