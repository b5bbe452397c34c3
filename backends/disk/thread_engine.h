// SPDX-License-Identifier: Apache-2.0
// Files by plain reads and writes, each on one of a few threads.
#pragma once
#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "backends/disk/engine.h"

namespace kvroof::disk {

class ThreadEngine final : public Engine {
 public:
  ThreadEngine(std::string why, Done done);
  ~ThreadEngine() override;

  void start(std::unique_ptr<FileJob> job) override;
  DiskFacts facts() const override;

 private:
  void work();

  const Done done_;
  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<std::unique_ptr<FileJob>> jobs_;
  DiskFacts facts_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace kvroof::disk
