// SPDX-License-Identifier: Apache-2.0
// What copies need of a GPU's driver with streams and events, as CUDA and HIP have them, a call
// each. An adapter implements it over the entry points that it loaded, and maps the driver's codes.
#pragma once
#include <cstdint>
#include <span>

#include "backends/api/queue.h"
#include "backends/api/status.h"

namespace kvroof::stream {

using Stream = void*;
using Event = void*;
using Address = std::uint64_t;  // of device memory, or of host memory as the host has it

enum class Way : std::uint8_t { in, out, within };  // host to device, back, device to device

struct Move {
  Address to = 0, from = 0;
  std::uint64_t bytes = 0;
};

// Calls return once their work is enqueued; `lost` where the device is gone for good. Host memory
// that a stream copies is pinned, and lies in one registration.
class Driver {
 public:
  virtual ~Driver() = default;

  // Makes the device the calling thread's, which all other calls need.
  virtual Status use() = 0;

  virtual Result<Address> allocate(std::uint64_t bytes) = 0;
  virtual Status free(Address memory) = 0;
  virtual Status pin(void* host, std::uint64_t bytes) = 0;
  virtual Status unpin(void* host) = 0;

  virtual Result<Stream> create_stream(Priority priority) = 0;
  virtual Status destroy_stream(Stream stream) = 0;
  virtual Status drain(Stream stream) = 0;  // blocks until all that it holds is done

  virtual Result<Event> create_event() = 0;
  virtual Status destroy_event(Event event) = 0;
  virtual Status record(Event event, Stream stream) = 0;
  virtual Status wait(Stream stream, Event event) = 0;  // for its last record so far
  virtual Result<bool> done(Event event) = 0;
  virtual Result<double> seconds(Event from, Event to) = 0;  // both done

  virtual Status copy(Way way, const Move& move, Stream stream) = 0;
  // Many copies in one call, each of which reads its source in the stream's order.
  virtual bool has_batch() const = 0;
  virtual Status copy_batch(std::span<const Move> moves, Stream stream) = 0;
  virtual Status set(Address memory, std::uint8_t value, std::uint64_t bytes, Stream stream) = 0;
  // Calls a function of ours in the stream's order; it must not call the driver.
  virtual Status call(Stream stream, void (*function)(void*), void* argument) = 0;
};

}  // namespace kvroof::stream
