// SPDX-License-Identifier: Apache-2.0
// An in-order lane of work, asynchronous by shape: submit returns a ticket, reap what has ended.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "backends/api/buffer.h"
#include "backends/api/directory.h"
#include "backends/api/ops.h"
#include "backends/api/status.h"

namespace kvroof {

using Nanos = std::chrono::nanoseconds;  // device time; virtual under the simulator
using Ticket = std::uint64_t;  // per queue: 1 for the first submission, then one more each
using Gate = std::uint64_t;    // names a gate of the device; closed until open_gate

class Queue;

// "When `ticket` of `queue` has completed."
struct Point {
  Queue* queue = nullptr;
  Ticket ticket = 0;
};

struct Interval {
  Nanos begin{}, end{};  // on the device's clock
};

struct Completion {
  Ticket ticket = 0;
  Status status;
  std::optional<Interval> interval;  // empty where the device has no timestamps or nothing ran
};

// host: CPU work, which has a price too.
enum class QueueKind : std::uint8_t { compute, copy_in, copy_out, disk_read, disk_write, host };
enum class Priority : std::uint8_t { low, normal, high };
enum class CopyMethod : std::uint8_t { dma, batch, kernel };

// By the method's value, as profiles name them.
constexpr const char* kCopyMethodNames[] = {"dma", "batch", "kernel"};
constexpr std::size_t kCopyMethods = std::size(kCopyMethodNames);

struct Region {
  Span source, destination;  // equally long; that no two destinations overlap is the caller's word
};

// XXH3_64 without a seed of each `part_bytes` that a copy reads, taken on the way: u64s in the
// order of its regions, each of which is a whole number of parts. On devices that sums_copies.
struct CopySums {
  Span out;  // host memory; no buffer: none are wanted
  std::uint64_t part_bytes = 0;
};

struct Regions {
  std::span<const Region> list;  // empty: a marker, which completes once its fences have
  CopyMethod method = CopyMethod::dma;
  CopySums sums{};
};

// Ops in order as one piece of work, the whole list `times` times: what a captured graph is to a
// device. The first failure ends it. What names rows by an index of its own (gather, scatter,
// quantise, dequantise, checksum) is submitted on its own.
struct OpRun {
  std::span<const Op> ops;  // at least one
  std::uint32_t times = 1;  // at least one
};

struct Fill {
  Span span;
  std::uint8_t value = 0;
};

// Occupies the lane until the gate opens; what is queued behind it waits.
struct Hold {
  Gate gate = 0;
};

// CPU time of the serving engine, for `host` queues; a real device answers `unsupported`.
struct Spend {
  Nanos duration{};
};

// At most so many, host memory all, make up one file. Where each begins and ends at a multiple of
// kDirectAlignment, in memory and so in the file, it goes past the page cache if the file system
// lets it; any other file goes through it.
inline constexpr std::size_t kMaxFilePieces = 8;
inline constexpr std::uint64_t kDirectAlignment = 4096;

// On disk_read queues: the bytes from the file's start on, one piece after the other. A file that
// is missing, shorter or no regular file is `failed`.
struct ReadFile {
  const Directory* directory = nullptr;
  std::string_view name;
  std::span<const Span> pieces;
};

// On disk_write queues: creates `temporary`, which must not exist, readable by its owner alone;
// writes the pieces, closes it and renames it to `name`, over whatever is there. Nothing is synced:
// after a crash the file may be there with other bytes. `failed` leaves neither name behind, but
// what `name` was before stays.
struct WriteFile {
  const Directory* directory = nullptr;
  std::string_view temporary, name;
  std::span<const Span> pieces;
};

// On disk_write queues. That there is none is no failure. It has run before what is submitted later
// starts, unlike reads and writes.
struct RemoveFile {
  const Directory* directory = nullptr;
  std::string_view name;
};

// How a disk queue reaches its files, as obtained.
struct DiskFacts {
  std::string engine;      // "io_uring", "threads", "virtual"; empty: no disk queue, or no files
  std::string not_better;  // why it is not io_uring, where it could have been
  std::uint64_t registered_bytes = 0;  // of buffers whose pages the kernel keeps at hand
  std::string unregistered;            // why some are not; empty: all that were used are
  std::uint64_t direct_files = 0, buffered_files = 0;  // so far: past the page cache, through it
  std::string buffered;                                // why the last buffered one was
};

// Fences first, then the body. Everything that Work points to is copied before submit returns.
struct Work {
  std::span<const Point> fences;
  std::variant<Regions, Op, OpRun, Fill, Hold, Spend, ReadFile, WriteFile, RemoveFile> body;
};

// One in-order lane. One thread at a time may use a queue; different queues may be used at once.
// A disk queue starts its files in order, once all before them have started, and has many under way
// at a time: a file that must follow another is fenced on it.
class Queue {
 public:
  // Drains: returns once every ticket has completed. A hold whose gate is still closed is aborted.
  virtual ~Queue() = default;

  virtual QueueKind kind() const noexcept = 0;

  // Never blocks. `busy`: nothing was enqueued, and a completion will clear it. `invalid`: it can
  // never be accepted: a fence on a ticket that was not returned yet, spans outside their buffers
  // or without bytes, regions against the queue's direction (copy_in: host to device, copy_out:
  // device to host), of unequal sides or more than max_regions, an op on a copy queue, a file on
  // any but its disk queue, with a name that is_file_name refuses or more than kMaxFilePieces. A
  // fence on work that failed makes this one complete as `aborted` without running. A fence may
  // name a ticket that was reaped long ago.
  virtual Result<Ticket> submit(const Work& work) noexcept = 0;

  // Completions in ticket order, each exactly once, each with its own status. Never blocks; returns
  // how many it wrote, 0 where nothing new has completed.
  virtual Result<std::size_t> reap(std::span<Completion> out) noexcept = 0;

  // Empty for queues of other kinds. A queue that wraps another passes it on.
  virtual DiskFacts disk_facts() const { return {}; }
};

}  // namespace kvroof
