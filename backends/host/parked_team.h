// SPDX-License-Identifier: Apache-2.0
// Makes OpenMP threads sleep soon after a parallel region, so that they do not take cores from the
// copy lanes.
#pragma once
#include <condition_variable>
#include <mutex>
#include <thread>

namespace kvroof::host {

// libgomp reads OMP_WAIT_POLICY before any code of ours runs, and spins for milliseconds by
// default. But while it manages more threads than there are CPUs it spins 100 times only (its
// manual, GOMP_SPINCOUNT). This holds a team of idle threads that makes it so, unless the user
// chose a policy. Other OpenMP run times merely gain a few sleeping threads.
class ParkedTeam {
 public:
  ParkedTeam();
  ~ParkedTeam();
  ParkedTeam(const ParkedTeam&) = delete;
  ParkedTeam& operator=(const ParkedTeam&) = delete;

 private:
  void park();

  std::mutex mutex_;
  std::condition_variable changed_;
  bool parked_ = false, leaving_ = false;
  std::thread thread_;
};

}  // namespace kvroof::host
