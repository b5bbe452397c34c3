// SPDX-License-Identifier: Apache-2.0
// Owns an io_uring: one thread submits, another takes what has ended.
#pragma once
#include <liburing.h>

#include <memory>

#include "backends/api/status.h"

namespace kvroof::disk {

class Ring {
 public:
  // `unsupported` where the kernel, or whoever confines this process, does not give one out.
  static Result<std::unique_ptr<Ring>> open();
  ~Ring();
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  io_uring* get() { return &ring_; }

  // Room for one more; what is prepared goes to the kernel at the next submit() at the latest. The
  // submitting thread's alone, both.
  io_uring_sqe* next();
  void submit();

  // Sleeps until something has ended; null user data is nobody's. The other thread's alone.
  struct Ended {
    void* user_data;
    int result;
  };
  Ended take();

 private:
  Ring() = default;

  io_uring ring_{};
  bool open_ = false;
};

}  // namespace kvroof::disk
