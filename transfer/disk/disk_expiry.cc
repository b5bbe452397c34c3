// SPDX-License-Identifier: Apache-2.0
// How the disk tier's hops end: drained, or given up where a file is read or written for ever.
#include <algorithm>

#include "backends/api/wait.h"
#include "transfer/disk/disk_hops.h"

namespace kvroof {

Status DiskHops::never_ended() {
  return {Code::lost, "The disk tier's lane was given up: a file on it never ended."};
}

// The queues drain before the memory that they use goes.
DiskHops::~DiskHops() {
  std::vector<FetchedChunk> fetched;
  waiting_.clear();
  while (!(reads_.empty() && writes_.empty())) {
    if (!wait_for_progress() || !reap_writes().ok() || !reap_reads(fetched).ok()) return;
    give_up_stalled(fetched);
  }
}

// False where nothing will ever end.
bool DiskHops::wait_for_progress() {
  std::vector<Point> points;
  add_open_points(points);
  const Code code = wait_or_sleep(device_, points, next_expiry()).code();
  return code == Code::ok || code == Code::timeout;
}

Nanos DiskHops::next_expiry() const {
  Nanos next = Nanos::max();
  if (timeout_ == Nanos{}) return next;
  if (!reads_.empty()) next = std::min(next, reading_.progress + timeout_);
  if (!writes_.empty()) next = std::min(next, writing_.progress + timeout_);
  return next;
}

// After what has ended was taken in, so that nothing is given up that has.
void DiskHops::give_up_stalled(std::vector<FetchedChunk>& fetched) {
  if (next_expiry() == Nanos::max()) return;
  const Nanos latest = device_.now() - timeout_;
  if (!reads_.empty() && reading_.progress <= latest) give_up_reads(fetched);
  if (!writes_.empty() && writing_.progress <= latest) give_up_writes();
}

// A late read may still write to its slot and header: both are lost for good.
void DiskHops::give_up_reads(std::vector<FetchedChunk>& fetched) {
  reading_.lost = true;
  for (const Read& read : reads_) {
    (void)disk_.end_read(read.file, never_ended(), {}, {});
    tier_.abandon(read.slot, true);
    fetched.push_back({read.tag, never_ended(), {}});
  }
  reads_.clear();
}

// A late write may still read its slot and header: the slot keeps its reference, so that it never
// changes.
void DiskHops::give_up_writes() {
  writing_.lost = true;
  for (const Write& write : writes_) {
    if (write.file) disk_.end_write(*write.file, never_ended());
  }
  writes_.clear();
  counters_.missed_writes += waiting_.size();
  waiting_.clear();
  removals_.clear();
}

}  // namespace kvroof
