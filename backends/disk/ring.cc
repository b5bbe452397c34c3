// SPDX-License-Identifier: Apache-2.0
#include "backends/disk/ring.h"

#include <cerrno>

#include "backends/disk/engine.h"
#include "backends/os/errors.h"

namespace kvroof::disk {
namespace {

// All pieces of all files under way fit, so that completions never overflow.
constexpr unsigned kEntries = kDepth * kMaxFilePieces;

}  // namespace

Result<std::unique_ptr<Ring>> Ring::open() {
  std::unique_ptr<Ring> ring(new Ring());
  const int error = io_uring_queue_init(kEntries, &ring->ring_, 0);
  if (error < 0) {
    return Status{Code::unsupported,
                  os::from_errno(-error, "io_uring can't be had here; files go by threads").text};
  }
  ring->open_ = true;
  return ring;
}

Ring::~Ring() {
  if (open_) io_uring_queue_exit(&ring_);
}

io_uring_sqe* Ring::next() {
  io_uring_sqe* sqe = io_uring_get_sqe(&ring_);
  for (; sqe == nullptr; sqe = io_uring_get_sqe(&ring_)) submit();
  return sqe;
}

// What the kernel may answer of a ring that is set up passes: a signal, or no memory just now.
void Ring::submit() {
  while (io_uring_submit(&ring_) < 0) continue;
}

Ring::Ended Ring::take() {
  io_uring_cqe* cqe = nullptr;
  while (io_uring_wait_cqe(&ring_, &cqe) < 0) continue;
  const Ended ended{io_uring_cqe_get_data(cqe), cqe->res};
  io_uring_cqe_seen(&ring_, cqe);
  return ended;
}

}  // namespace kvroof::disk
