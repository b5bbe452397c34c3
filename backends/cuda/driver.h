// SPDX-License-Identifier: Apache-2.0
// The streams' driver over CUDA's entry points, on one device's primary context.
#pragma once
#include <memory>
#include <string_view>

#include "backends/cuda/entry_points.h"
#include "backends/stream/driver.h"

namespace kvroof::cuda {

class CudaDriver final : public stream::Driver {
 public:
  // Retains the device's primary context until the end.
  static Result<std::unique_ptr<CudaDriver>> create(const EntryPoints& entry, DeviceId device);
  ~CudaDriver() override;

  Status use() override;
  Result<stream::Address> allocate(std::uint64_t bytes) override;
  Status free(stream::Address memory) override;
  Status pin(void* host, std::uint64_t bytes) override;
  Status unpin(void* host) override;
  Result<stream::Stream> create_stream(Priority priority) override;
  Status destroy_stream(stream::Stream stream) override;
  Status drain(stream::Stream stream) override;
  Result<stream::Event> create_event() override;
  Status destroy_event(stream::Event event) override;
  Status record(stream::Event event, stream::Stream stream) override;
  Status wait(stream::Stream stream, stream::Event event) override;
  Result<bool> done(stream::Event event) override;
  Result<double> seconds(stream::Event from, stream::Event to) override;
  Status copy(stream::Way way, const stream::Move& move, stream::Stream stream) override;
  bool has_batch() const override { return entry_.copy_batch != nullptr; }
  Status copy_batch(std::span<const stream::Move> moves, stream::Stream stream) override;
  Status set(stream::Address memory, std::uint8_t value, std::uint64_t bytes,
             stream::Stream stream) override;
  Status call(stream::Stream stream, void (*function)(void*), void* argument) override;

 private:
  CudaDriver(const EntryPoints& entry, DeviceId device) : entry_(entry), device_(device) {}
  Status told(int answer, std::string_view doing) const;

  const EntryPoints entry_;
  const DeviceId device_;
  Context context_ = nullptr;
  int least_priority_ = 0, greatest_priority_ = 0;
};

}  // namespace kvroof::cuda
