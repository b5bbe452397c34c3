// SPDX-License-Identifier: Apache-2.0
// One file to read, write or remove, with everything that its body pointed to copied.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "backends/api/queue.h"
#include "backends/queues/owned_buffer.h"

namespace kvroof::disk {

struct Piece {
  std::byte* data = nullptr;
  std::uint64_t bytes = 0, offset = 0;  // in the file
  queues::OwnedBuffer* buffer = nullptr;
};

struct FileJob {
  enum class Act : std::uint8_t { read, write, remove };

  Act act = Act::read;
  const Directory* directory = nullptr;
  std::string name, temporary;  // temporary: of a write
  std::vector<Piece> pieces;
  Ticket ticket = 0;  // the lane's, to know it by
  Nanos begin{};      // when it started, likewise

  std::uint64_t bytes() const {
    return pieces.empty() ? 0 : pieces.back().offset + pieces.back().bytes;
  }
  std::string path() const { return directory->path() + "/" + name; }
};

// From checked bodies (backends/queues/body_check.h). A piece without a host view, as the
// simulator's may be, leaves the job without pieces.
FileJob job_of(const ReadFile& file);
FileJob job_of(const WriteFile& file);
FileJob job_of(const RemoveFile& file);

}  // namespace kvroof::disk
