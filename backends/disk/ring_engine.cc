// SPDX-License-Identifier: Apache-2.0
#include "backends/disk/ring_engine.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "backends/os/errors.h"

namespace kvroof::disk {
namespace {

constexpr std::uint64_t kMostAtOnce = 1 << 30;  // of one request; the kernel's limit is 2 GiB

}  // namespace

RingEngine::Flight::Flight(std::unique_ptr<FileJob> whose, OpenFile opened)
    : job(std::move(whose)), file(std::move(opened)), left(job->pieces.size()) {
  parts.reserve(left);
  for (const Piece& piece : job->pieces) parts.push_back({this, &piece});
}

RingEngine::RingEngine(std::unique_ptr<Ring> ring, Done done)
    : done_(std::move(done)), ring_(std::move(ring)), buffers_(*ring_) {
  facts_.engine = "io_uring";
  look_at(buffers_);
  thread_ = std::thread([this] { take_ended(); });
}

// All jobs are done: what is left for the thread is to end.
RingEngine::~RingEngine() {
  io_uring_sqe* const sqe = ring_->next();
  io_uring_prep_nop(sqe);
  io_uring_sqe_set_data(sqe, nullptr);
  ring_->submit();
  thread_.join();
}

DiskFacts RingEngine::facts() const {
  const std::lock_guard lock(mutex_);
  return facts_;
}

void RingEngine::look_at(const BufferTable& buffers) {
  facts_.registered_bytes = buffers.registered_bytes();
  facts_.unregistered = buffers.why_not();
}

void RingEngine::start(std::unique_ptr<FileJob> job) {
  if (job->act == FileJob::Act::remove) return done_(*job, remove(*job));
  Result<OpenFile> file = OpenFile::open(*job);
  if (!file) return done_(*job, file.status());
  auto flight = std::make_unique<Flight>(std::move(job), std::move(*file));
  send(*flight.release());  // finish() takes it back
}

void RingEngine::send(Flight& flight) {
  {
    const std::lock_guard lock(mutex_);
    for (Part& part : flight.parts) prepare(part);
    look_at(buffers_);
  }
  ring_->submit();
}

void RingEngine::prepare(Part& part) {
  const Piece& piece = *part.piece;
  const int fd = part.flight->file.descriptor();
  const int place = buffers_.place_of(*piece.buffer);
  const bool reads = part.flight->job->act == FileJob::Act::read;
  const auto bytes = static_cast<unsigned>(std::min(piece.bytes, kMostAtOnce));
  io_uring_sqe* const sqe = ring_->next();
  if (place == BufferTable::kUnregistered) {
    reads ? io_uring_prep_read(sqe, fd, piece.data, bytes, piece.offset)
          : io_uring_prep_write(sqe, fd, piece.data, bytes, piece.offset);
  } else {
    reads ? io_uring_prep_read_fixed(sqe, fd, piece.data, bytes, piece.offset, place)
          : io_uring_prep_write_fixed(sqe, fd, piece.data, bytes, piece.offset, place);
  }
  io_uring_sqe_set_data(sqe, &part);
}

void RingEngine::take_ended() {
  for (Ring::Ended ended = ring_->take(); ended.user_data != nullptr; ended = ring_->take()) {
    end(*static_cast<Part*>(ended.user_data), ended.result);
  }
}

// What the kernel left off is moved here: a signal, or an alignment that it did not like.
void RingEngine::end(Part& part, int result) {
  { const std::lock_guard lock(mutex_); }
  Flight& flight = *part.flight;
  const bool again = result >= 0 || result == -EINTR || result == -EAGAIN || result == -EINVAL;
  const Status status =
      again ? flight.file.move_rest(*part.piece, static_cast<std::uint64_t>(std::max(result, 0)))
            : failure(*flight.job, -result);
  if (flight.status.ok()) flight.status = status;
  if (--flight.left == 0) finish(&flight);
}

// A file that failed is gone before anybody hears of it.
void RingEngine::finish(Flight* flight) {
  std::unique_ptr<Flight> owned(flight);
  {
    const std::lock_guard lock(mutex_);
    count(owned->file, facts_);
  }
  Status status = owned->status.ok() ? owned->file.finish() : std::move(owned->status);
  const std::unique_ptr<FileJob> job = std::move(owned->job);
  owned.reset();
  done_(*job, std::move(status));
}

}  // namespace kvroof::disk
