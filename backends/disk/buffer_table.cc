// SPDX-License-Identifier: Apache-2.0
#include "backends/disk/buffer_table.h"

#include <cerrno>

#include "backends/os/errors.h"

namespace kvroof::disk {
namespace {

constexpr int kPlaces = 1024;  // slabs of a host tier have up to 1 GiB each

std::string sentence(int error) {
  const bool limit = error == ENOMEM;
  return os::from_errno(error, limit ? "registering buffers beyond RLIMIT_MEMLOCK (ulimit -l)"
                                     : "registering buffers with io_uring")
      .text;
}

}  // namespace

BufferTable::BufferTable(Ring& ring) : ring_(ring) {
  const int error = io_uring_register_buffers_sparse(ring_.get(), kPlaces);
  if (error < 0) {
    why_not_ = sentence(-error);
    return;
  }
  for (int place = kPlaces; place-- > 0;) free_.push_back(place);
}

int BufferTable::place_of(queues::OwnedBuffer& buffer) {
  const auto found = entries_.find(&buffer);
  if (found != entries_.end() && !found->second.life.expired()) return found->second.place;
  forget_the_gone();
  return add(buffer);
}

// That it got none is remembered too, so that it is not tried again for each file.
int BufferTable::add(queues::OwnedBuffer& buffer) {
  const std::span<std::byte> bytes = buffer.host();
  Entry entry{buffer.life(), kUnregistered, bytes.size()};
  if (!free_.empty() && set(free_.back(), bytes.data(), bytes.size())) {
    entry.place = free_.back();
    free_.pop_back();
    bytes_ += entry.bytes;
  }
  entries_[&buffer] = entry;
  return entry.place;
}

bool BufferTable::set(int place, void* data, std::uint64_t bytes) {
  const iovec range{data, bytes};
  const __u64 tag = 0;
  const int done = io_uring_register_buffers_update_tag(ring_.get(), static_cast<unsigned>(place),
                                                        &range, &tag, 1);
  if (done == 1) return true;
  why_not_ = sentence(done < 0 ? -done : EINVAL);
  return false;
}

void BufferTable::forget_the_gone() {
  std::erase_if(entries_, [&](const auto& each) {
    const Entry& entry = each.second;
    if (!entry.life.expired()) return false;
    if (entry.place != kUnregistered && set(entry.place, nullptr, 0)) {
      bytes_ -= entry.bytes;
      free_.push_back(entry.place);
    }
    return true;
  });
}

}  // namespace kvroof::disk
