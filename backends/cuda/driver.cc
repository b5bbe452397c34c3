// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/driver.h"

#include <string>
#include <utility>
#include <vector>

#include "backends/cuda/errors.h"

namespace kvroof::cuda {
namespace {

StreamHandle handle_of(stream::Stream stream) { return static_cast<StreamHandle>(stream); }
EventHandle event_of(stream::Event event) { return static_cast<EventHandle>(event); }

}  // namespace

Status CudaDriver::told(int answer, std::string_view doing) const {
  return from_cuda(entry_, answer, doing);
}

Result<std::unique_ptr<CudaDriver>> CudaDriver::create(const EntryPoints& entry, DeviceId device) {
  std::unique_ptr<CudaDriver> made(new CudaDriver(entry, device));
  Context context = nullptr;
  Status status = made->told(entry.retain_context(&context, device), "cuDevicePrimaryCtxRetain");
  if (!status.ok()) return status;
  made->context_ = context;
  status = made->use();
  if (status.ok()) {
    status = made->told(entry.priority_range(&made->least_priority_, &made->greatest_priority_),
                        "cuCtxGetStreamPriorityRange");
  }
  if (!status.ok()) return status;
  return made;
}

CudaDriver::~CudaDriver() {
  if (context_ != nullptr) (void)entry_.release_context(device_);
}

Status CudaDriver::use() { return told(entry_.set_context(context_), "cuCtxSetCurrent"); }

Result<stream::Address> CudaDriver::allocate(std::uint64_t bytes) {
  DevicePointer memory = 0;
  Status status = told(entry_.allocate(&memory, bytes), "cuMemAlloc");
  if (!status.ok()) return status;
  return stream::Address{memory};
}

Status CudaDriver::free(stream::Address memory) { return told(entry_.free(memory), "cuMemFree"); }

Status CudaDriver::pin(void* host, std::uint64_t bytes) {
  return told(entry_.register_host(host, bytes, kPortableRegistration), "cuMemHostRegister");
}

Status CudaDriver::unpin(void* host) {
  return told(entry_.unregister_host(host), "cuMemHostUnregister");
}

// Lower numbers are more urgent.
Result<stream::Stream> CudaDriver::create_stream(Priority priority) {
  const int number = priority == Priority::high  ? greatest_priority_
                     : priority == Priority::low ? least_priority_
                                                 : (least_priority_ + greatest_priority_) / 2;
  StreamHandle stream = nullptr;
  Status status =
      told(entry_.create_stream(&stream, kNonBlockingStream, number), "cuStreamCreateWithPriority");
  if (!status.ok()) return status;
  return static_cast<stream::Stream>(stream);
}

Status CudaDriver::destroy_stream(stream::Stream stream) {
  return told(entry_.destroy_stream(handle_of(stream)), "cuStreamDestroy");
}

Status CudaDriver::drain(stream::Stream stream) {
  return told(entry_.synchronize_stream(handle_of(stream)), "cuStreamSynchronize");
}

Result<stream::Event> CudaDriver::create_event() {
  EventHandle event = nullptr;
  Status status = told(entry_.create_event(&event, 0), "cuEventCreate");
  if (!status.ok()) return status;
  return static_cast<stream::Event>(event);
}

Status CudaDriver::destroy_event(stream::Event event) {
  return told(entry_.destroy_event(event_of(event)), "cuEventDestroy");
}

Status CudaDriver::record(stream::Event event, stream::Stream stream) {
  return told(entry_.record_event(event_of(event), handle_of(stream)), "cuEventRecord");
}

Status CudaDriver::wait(stream::Stream stream, stream::Event event) {
  return told(entry_.wait_event(handle_of(stream), event_of(event), 0), "cuStreamWaitEvent");
}

Result<bool> CudaDriver::done(stream::Event event) {
  const int answer = entry_.query_event(event_of(event));
  if (answer == kNotReady) return false;
  Status status = told(answer, "cuEventQuery");
  if (!status.ok()) return status;
  return true;
}

Result<double> CudaDriver::seconds(stream::Event from, stream::Event to) {
  float milliseconds = 0;
  Status status =
      told(entry_.elapsed(&milliseconds, event_of(from), event_of(to)), "cuEventElapsedTime");
  if (!status.ok()) return status;
  return double{milliseconds} * 1e-3;
}

Status CudaDriver::copy(stream::Way way, const stream::Move& move, stream::Stream stream) {
  switch (way) {
    case stream::Way::in:
      return told(entry_.copy_in(move.to, reinterpret_cast<const void*>(move.from), move.bytes,
                                 handle_of(stream)),
                  "cuMemcpyHtoDAsync");
    case stream::Way::out:
      return told(entry_.copy_out(reinterpret_cast<void*>(move.to), move.from, move.bytes,
                                  handle_of(stream)),
                  "cuMemcpyDtoHAsync");
    case stream::Way::within:
      break;
  }
  return told(entry_.copy_within(move.to, move.from, move.bytes, handle_of(stream)),
              "cuMemcpyDtoDAsync");
}

Status CudaDriver::copy_batch(std::span<const stream::Move> moves, stream::Stream stream) {
  std::vector<DevicePointer> to, from;
  std::vector<std::size_t> bytes;
  for (auto* const list : {&to, &from}) list->reserve(moves.size());
  bytes.reserve(moves.size());
  for (const stream::Move& move : moves) {
    to.push_back(move.to);
    from.push_back(move.from);
    bytes.push_back(move.bytes);
  }
  CopyAttributes attributes{kSourceInStreamOrder, {}, {}, 0};
  std::size_t first = 0, failed = SIZE_MAX;
  Status status = told(entry_.copy_batch(to.data(), from.data(), bytes.data(), moves.size(),
                                         &attributes, &first, 1, &failed, handle_of(stream)),
                       "cuMemcpyBatchAsync");
  if (!status.ok() && failed < moves.size()) {
    status.text += ", region " + std::to_string(failed) + " of " + std::to_string(moves.size());
  }
  return status;
}

Status CudaDriver::set(stream::Address memory, std::uint8_t value, std::uint64_t bytes,
                       stream::Stream stream) {
  return told(entry_.set_bytes(memory, value, bytes, handle_of(stream)), "cuMemsetD8Async");
}

Status CudaDriver::call(stream::Stream stream, void (*function)(void*), void* argument) {
  return told(entry_.host_function(handle_of(stream), function, argument), "cuLaunchHostFunc");
}

}  // namespace kvroof::cuda
