// SPDX-License-Identifier: Apache-2.0
// What moves the files of one disk lane, many at a time: io_uring, or threads where the kernel does
// not give us that.
#pragma once
#include <functional>
#include <memory>

#include "backends/disk/file_job.h"

namespace kvroof::disk {

inline constexpr unsigned kDepth = 32;  // files under way in a lane

class Engine {
 public:
  // Told once for each job, from a thread of the engine's or from inside start().
  using Done = std::function<void(const FileJob&, Status)>;

  virtual ~Engine() = default;  // once all jobs are done

  // At most kDepth jobs are under way; one thread calls this. A removal is done when it returns.
  virtual void start(std::unique_ptr<FileJob> job) = 0;

  virtual DiskFacts facts() const = 0;
};

enum class Way : std::uint8_t { best, threads };

// `best` is io_uring where it can be had, and else threads, whose facts say why.
std::unique_ptr<Engine> make_engine(Way way, Engine::Done done);

}  // namespace kvroof::disk
