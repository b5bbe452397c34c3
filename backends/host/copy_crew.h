// SPDX-License-Identifier: Apache-2.0
// The threads of one copy lane: they share out the pieces of a submission and end it together.
#pragma once
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "kernels/portable/span_copy.h"

namespace kvroof::host {

using Piece = SpanCopy;

// Waits on condition variables, never spins.
class CopyCrew {
 public:
  // The calling thread of copy() is one of the `workers`.
  explicit CopyCrew(unsigned workers);
  ~CopyCrew();
  CopyCrew(const CopyCrew&) = delete;
  CopyCrew& operator=(const CopyCrew&) = delete;

  // Returns once every piece has landed. Large pieces are split over the workers.
  void copy(std::span<const Piece> pieces);

 private:
  void help();
  bool take(Piece& out);
  void work(std::unique_lock<std::mutex>& lock);

  std::mutex mutex_;
  std::condition_variable work_, done_;
  std::span<const Piece> pieces_;  // of the submission being copied
  std::size_t next_ = 0;           // piece, and the offset inside it, that is taken next
  std::uint64_t offset_ = 0;
  unsigned busy_ = 0;  // workers that hold a slice
  bool stopping_ = false;
  std::vector<std::thread> helpers_;
};

}  // namespace kvroof::host
