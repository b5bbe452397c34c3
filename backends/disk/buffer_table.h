// SPDX-License-Identifier: Apache-2.0
// Buffers that a ring's kernel side holds on to, so that it need not look up their pages anew for
// each file. As many as the limit on locked memory (RLIMIT_MEMLOCK) allows; others work all the
// same.
#pragma once
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "backends/disk/ring.h"
#include "backends/queues/owned_buffer.h"

namespace kvroof::disk {

// The submitting thread's alone.
class BufferTable {
 public:
  explicit BufferTable(Ring& ring);

  static constexpr int kUnregistered = -1;

  // The buffer's place in the ring, where it has or gets one. Those of buffers that are gone are
  // given up first.
  int place_of(queues::OwnedBuffer& buffer);

  std::uint64_t registered_bytes() const { return bytes_; }
  const std::string& why_not() const { return why_not_; }

 private:
  struct Entry {
    std::weak_ptr<const void> life;
    int place;
    std::uint64_t bytes;
  };

  int add(queues::OwnedBuffer& buffer);
  bool set(int place, void* data, std::uint64_t bytes);
  void forget_the_gone();

  Ring& ring_;
  std::unordered_map<const queues::OwnedBuffer*, Entry> entries_;
  std::vector<int> free_;
  std::uint64_t bytes_ = 0;
  std::string why_not_;
};

}  // namespace kvroof::disk
