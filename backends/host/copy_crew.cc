// SPDX-License-Identifier: Apache-2.0
#include "backends/host/copy_crew.h"

#include <algorithm>

#include "backends/host/copy.h"

namespace kvroof::host {
namespace {

// Large enough that taking one (a lock) is noise, small enough that workers end close together.
constexpr std::uint64_t kSliceBytes = 256 << 10;

}  // namespace

CopyCrew::CopyCrew(unsigned workers) {
  for (unsigned i = 1; i < workers; ++i) helpers_.emplace_back([this] { help(); });
}

CopyCrew::~CopyCrew() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_.notify_all();
  for (std::thread& helper : helpers_) helper.join();
}

void CopyCrew::copy(std::span<const Piece> pieces) {
  std::unique_lock lock(mutex_);
  pieces_ = pieces;
  next_ = 0;
  offset_ = 0;
  const bool alone = pieces.empty() || (pieces.size() == 1 && pieces[0].bytes <= kSliceBytes);
  if (!alone) work_.notify_all();
  work(lock);
  done_.wait(lock, [&] { return busy_ == 0; });
  pieces_ = {};
}

void CopyCrew::help() {
  std::unique_lock lock(mutex_);
  while (true) {
    work_.wait(lock, [&] { return stopping_ || next_ < pieces_.size(); });
    if (stopping_) return;
    work(lock);
  }
}

void CopyCrew::work(std::unique_lock<std::mutex>& lock) {
  ++busy_;
  for (Piece slice; take(slice);) {
    lock.unlock();
    copy_span(slice, stream_copy);
    lock.lock();
  }
  if (--busy_ == 0) done_.notify_one();
}

bool CopyCrew::take(Piece& out) {
  if (next_ >= pieces_.size()) return false;
  const Piece& piece = pieces_[next_];
  out = part_of(piece, offset_, std::min(piece.bytes, offset_ + whole_parts(piece, kSliceBytes)));
  offset_ += out.bytes;
  if (offset_ >= piece.bytes) {
    ++next_;
    offset_ = 0;
  }
  return true;
}

}  // namespace kvroof::host
