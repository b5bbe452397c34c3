// SPDX-License-Identifier: Apache-2.0
// A set of tickets that grows in ticket order, kept as runs: a lane that fails and aborts all that
// follows is one run, however long.
#pragma once
#include <algorithm>
#include <vector>

#include "backends/api/queue.h"

namespace kvroof::queues {

class TicketRanges {
 public:
  // `ticket` is larger than all before it.
  void append(Ticket ticket) {
    if (!runs_.empty() && runs_.back().last + 1 == ticket) {
      runs_.back().last = ticket;
    } else {
      runs_.push_back({ticket, ticket});
    }
  }

  bool contains(Ticket ticket) const {
    const auto run = std::partition_point(runs_.begin(), runs_.end(),
                                          [&](const Run& r) { return r.last < ticket; });
    return run != runs_.end() && run->first <= ticket;
  }

  std::size_t runs() const { return runs_.size(); }

 private:
  struct Run {
    Ticket first, last;
  };
  std::vector<Run> runs_;
};

}  // namespace kvroof::queues
