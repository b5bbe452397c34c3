// SPDX-License-Identifier: Apache-2.0
#include "backends/disk/thread_engine.h"

#include <utility>

#include "backends/disk/open_file.h"
#include "backends/os/errors.h"

namespace kvroof::disk {
namespace {

constexpr unsigned kThreads = 8;  // they sleep in the kernel: more than cores is meant

Status run_safely(const FileJob& job, DiskFacts& facts) noexcept try {
  return run(job, facts);
} catch (...) {
  return os::from_exception();
}

}  // namespace

ThreadEngine::ThreadEngine(std::string why, Done done) : done_(std::move(done)) {
  facts_.engine = "threads";
  facts_.not_better = std::move(why);
  for (unsigned i = 0; i < kThreads; ++i) threads_.emplace_back([this] { work(); });
}

ThreadEngine::~ThreadEngine() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  arrived_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadEngine::start(std::unique_ptr<FileJob> job) {
  if (job->act == FileJob::Act::remove) return done_(*job, remove(*job));
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
  }
  arrived_.notify_one();
}

DiskFacts ThreadEngine::facts() const {
  const std::lock_guard lock(mutex_);
  return facts_;
}

void ThreadEngine::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    arrived_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    const std::unique_ptr<FileJob> job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    DiskFacts used;
    Status status = run_safely(*job, used);
    lock.lock();
    facts_.direct_files += used.direct_files;
    facts_.buffered_files += used.buffered_files;
    if (used.buffered_files > 0) facts_.buffered = std::move(used.buffered);
    lock.unlock();
    done_(*job, std::move(status));
    lock.lock();
  }
}

}  // namespace kvroof::disk
