// SPDX-License-Identifier: Apache-2.0
// What a lane enqueues for one submission: copies cut at registrations, fills, and functions of
// ours for what no copy engine reaches.
#pragma once
#include <deque>
#include <memory>
#include <variant>
#include <vector>

#include "backends/os/memory.h"
#include "backends/stream/buffer.h"

namespace kvroof::stream {

struct Copy {
  Move move;
  Way way = Way::in;
  bool pageable = false;  // its host side: it goes through the bounce buffer
};

struct Copies {
  std::vector<Copy> over_link;
  std::vector<Move> on_host;  // between two places of host memory: `call` does it
  bool batch = false;
};

struct Set {
  Address to = 0;
  std::uint64_t bytes = 0;
  std::uint8_t value = 0;
  bool on_device = true;
};

// Cuts checked regions (backends/queues/body_check.h) so that each part lies in one registration.
Copies copies_of(const Regions& regions);
Set set_of(const Fill& fill);

// What `call` is given; lives until its stream has passed it.
struct HostTask {
  std::byte* to;
  const std::byte* from;  // null: `value` instead
  std::uint64_t bytes;
  std::uint8_t value;

  static void run(void* self);
};
using HostTasks = std::deque<HostTask>;

// Pinned memory of one lane, which a pageable copy passes in parts: the stream's order keeps one
// part's bytes until they have been taken.
class Bounce {
 public:
  explicit Bounce(Driver& driver) : driver_(driver) {}
  ~Bounce();
  Bounce(const Bounce&) = delete;
  Bounce& operator=(const Bounce&) = delete;

  Status copy(const Copy& copy, Stream stream, HostTasks& tasks);

 private:
  Status open();

  Driver& driver_;
  std::unique_ptr<os::Mapping> mapping_;
};

Status call(Driver& driver, Stream stream, HostTask task, HostTasks& tasks);

}  // namespace kvroof::stream
