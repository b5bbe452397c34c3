// SPDX-License-Identifier: Apache-2.0
#include "backends/host/parked_team.h"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>

namespace kvroof::host {

ParkedTeam::ParkedTeam() {
  if (std::getenv("OMP_WAIT_POLICY") != nullptr || std::getenv("GOMP_SPINCOUNT") != nullptr) return;
  thread_ = std::thread([this] { park(); });
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return parked_; });
}

ParkedTeam::~ParkedTeam() {
  if (!thread_.joinable()) return;
  {
    std::lock_guard lock(mutex_);
    leaving_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void ParkedTeam::park() {
  // One more than the CPUs, together with the team that computes.
  const int team = std::max(0, omp_get_num_procs() - omp_get_max_threads()) + 2;
  std::atomic<int> present = 0;  // a region without an effect would be optimised away
#pragma omp parallel num_threads(team)
  present.fetch_add(1, std::memory_order_relaxed);
  std::unique_lock lock(mutex_);
  parked_ = present.load() > 0;
  changed_.notify_all();
  changed_.wait(lock, [this] { return leaving_; });
}

}  // namespace kvroof::host
