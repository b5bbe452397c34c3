// SPDX-License-Identifier: Apache-2.0
// The file of one job from its opening to its last name. What is under way and never finished is
// removed again.
#pragma once
#include <string>

#include "backends/api/unique_fd.h"
#include "backends/disk/file_job.h"

namespace kvroof::disk {

class OpenFile {
 public:
  // Of a read or a write, which outlives it; past the page cache where pieces and file system
  // allow.
  static Result<OpenFile> open(const FileJob& job);
  OpenFile(OpenFile&& other) noexcept;
  OpenFile& operator=(OpenFile&&) = delete;
  ~OpenFile();

  int descriptor() const { return fd_.get(); }
  bool direct() const { return buffered_.empty(); }
  const std::string& why_buffered() const { return buffered_; }
  void go_buffered(std::string why);

  // What is left of a piece after its first `done` bytes, on the calling thread.
  Status move_rest(const Piece& piece, std::uint64_t done);

  // Every piece has moved: closes it and gives a written file its name.
  Status finish();

 private:
  explicit OpenFile(const FileJob& job) : job_(&job) {}
  Status open();
  Status look() const;
  Status reserve() const;

  const FileJob* job_;
  UniqueFd fd_;
  std::string buffered_;
  bool temporary_ = false;  // is there, and is to be renamed or removed
};

// "reading D/NAME: the system's words".
Status failure(const FileJob& job, int error);

// All of a job on the calling thread, and where a file was used, how: `facts` has its counts.
Status run(const FileJob& job, DiskFacts& facts);

Status remove(const FileJob& job);

void count(const OpenFile& file, DiskFacts& facts);

}  // namespace kvroof::disk
