// SPDX-License-Identifier: Apache-2.0
// The driver's functions by their exported names.
#include <algorithm>
#include <cstring>
#include <memory>

#include "tests/doubles/cuda/world.h"

namespace kvroof::cuda_double {
namespace {

int copy(const char* entry, Place to, Place from, std::size_t bytes, StreamHandle stream) {
  if (const int answer = in_context(entry); answer != kSuccess) return answer;
  {
    std::lock_guard lock(world().mutex);
    std::byte* target = nullptr;
    const std::byte* source = nullptr;
    if (!resolve(entry, to, from, bytes, target, source)) return kInvalidValue;
  }
  return enqueue(stream, entry, copying(entry, to, from, bytes));
}

Place place(DevicePointer address) {
  if ((address & kDisguise) != 0) return {address, nullptr};
  return {0, reinterpret_cast<std::byte*>(address)};
}

}  // namespace
}  // namespace kvroof::cuda_double

using namespace kvroof::cuda;
using namespace kvroof::cuda_double;

extern "C" {

int cuInit(unsigned) { return injected("cuInit"); }

int cuDriverGetVersion(int* version) {
  *version = 13000;
  return injected("cuDriverGetVersion");
}

int cuDeviceGetCount(int* count) {
  *count = 1;
  return injected("cuDeviceGetCount");
}

int cuDeviceGet(DeviceId* device, int ordinal) {
  *device = ordinal;
  const int answer = injected("cuDeviceGet");
  return answer != kSuccess ? answer : ordinal == 0 ? kSuccess : kInvalidDevice;
}

int cuDeviceGetName(char* name, int length, DeviceId) {
  std::strncpy(name, "a double of the driver, without a GPU", static_cast<std::size_t>(length));
  return injected("cuDeviceGetName");
}

int cuDeviceGetPCIBusId(char* id, int length, DeviceId) {
  std::strncpy(id, "0000:00:00.0", static_cast<std::size_t>(length));
  return injected("cuDeviceGetPCIBusId");
}

int cuDevicePrimaryCtxRetain(Context* context, DeviceId) {
  if (const int answer = injected("cuDevicePrimaryCtxRetain"); answer != kSuccess) return answer;
  std::lock_guard lock(world().mutex);
  ++world().contexts;
  *context = kContext;
  return kSuccess;
}

int cuDevicePrimaryCtxRelease_v2(DeviceId) {
  std::lock_guard lock(world().mutex);
  --world().contexts;
  return kSuccess;
}

int cuCtxSetCurrent(Context context) {
  if (const int answer = injected("cuCtxSetCurrent"); answer != kSuccess) return answer;
  current = context;
  return kSuccess;
}

int cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0, *greatest = -5;
  return in_context("cuCtxGetStreamPriorityRange");
}

int cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  *free = *total = kDeviceBytes;
  return in_context("cuMemGetInfo_v2");
}

int cuMemAlloc_v2(DevicePointer* memory, std::size_t bytes) {
  if (const int answer = in_context("cuMemAlloc_v2"); answer != kSuccess) return answer;
  if (bytes > kDeviceBytes) return kOutOfMemory;
  std::vector<std::byte> contents(bytes, std::byte{0xdb});
  std::lock_guard lock(world().mutex);
  *memory = kDisguise | reinterpret_cast<DevicePointer>(contents.data());
  world().memory.emplace(*memory, std::move(contents));
  return kSuccess;
}

// What is given back is, whatever the answer.
int cuMemFree_v2(DevicePointer memory) {
  World& w = world();
  {
    std::lock_guard lock(w.mutex);
    if (w.memory.erase(memory) == 0) w.broken("cuMemFree of what is not allocated");
  }
  return in_context("cuMemFree_v2");
}

int cuMemHostRegister_v2(void* host, std::size_t bytes, unsigned) {
  if (const int answer = in_context("cuMemHostRegister_v2"); answer != kSuccess) return answer;
  constexpr int kAlreadyRegistered = 712;
  World& w = world();
  std::lock_guard lock(w.mutex);
  if (pinned(host, 1)) return kAlreadyRegistered;
  w.registered[reinterpret_cast<std::uintptr_t>(host)] = bytes;
  return kSuccess;
}

int cuMemHostUnregister(void* host) {
  World& w = world();
  {
    std::lock_guard lock(w.mutex);
    if (w.registered.erase(reinterpret_cast<std::uintptr_t>(host)) == 0) {
      w.broken("cuMemHostUnregister of what is not registered");
    }
  }
  return in_context("cuMemHostUnregister");
}

int cuStreamCreateWithPriority(StreamHandle* stream, unsigned, int) {
  if (const int answer = in_context("cuStreamCreateWithPriority"); answer != kSuccess) {
    return answer;
  }
  auto* const lane = new Lane;
  std::lock_guard lock(world().mutex);
  world().lanes.insert(lane);
  *stream = reinterpret_cast<StreamHandle>(lane);
  return kSuccess;
}

int cuStreamDestroy_v2(StreamHandle stream) {
  World& w = world();
  auto* const lane = reinterpret_cast<Lane*>(stream);
  {
    std::lock_guard lock(w.mutex);
    if (w.lanes.erase(lane) == 0) {
      w.broken("cuStreamDestroy of a stream that does not exist");
      return kInvalidValue;
    }
    lane->ending = true;
    w.changed.notify_all();
  }
  lane->thread.join();
  delete lane;
  return in_context("cuStreamDestroy_v2");
}

int cuStreamSynchronize(StreamHandle stream) {
  if (const int answer = injected("cuStreamSynchronize"); answer != kSuccess) return answer;
  World& w = world();
  std::unique_lock lock(w.mutex);
  auto* const lane = reinterpret_cast<Lane*>(stream);
  w.changed.wait(lock, [&] { return lane->tasks.empty() && !lane->busy; });
  return w.lost;
}

int cuEventCreate(EventHandle* event, unsigned) {
  if (const int answer = in_context("cuEventCreate"); answer != kSuccess) return answer;
  auto* const made = new Event;
  std::lock_guard lock(world().mutex);
  world().events.insert(made);
  *event = reinterpret_cast<EventHandle>(made);
  return kSuccess;
}

int cuEventDestroy_v2(EventHandle event) {
  World& w = world();
  auto* const gone = reinterpret_cast<Event*>(event);
  {
    std::lock_guard lock(w.mutex);
    if (w.events.erase(gone) == 0) {
      w.broken("cuEventDestroy of an event that does not exist");
      return kInvalidValue;
    }
    if (gone->reached < gone->recorded) w.broken("cuEventDestroy of an event that is in use");
  }
  delete gone;
  return in_context("cuEventDestroy_v2");
}

int cuEventRecord(EventHandle event, StreamHandle stream) {
  if (const int answer = in_context("cuEventRecord"); answer != kSuccess) return answer;
  World& w = world();
  auto* const target = reinterpret_cast<Event*>(event);
  std::uint64_t record = 0;
  {
    std::lock_guard lock(w.mutex);
    record = ++target->recorded;
  }
  return enqueue(stream, "cuEventRecord", [target, record] {
    std::lock_guard lock(world().mutex);
    target->reached = std::max(target->reached, record);
    target->at = Clock::now();
    world().changed.notify_all();
  });
}

int cuStreamWaitEvent(StreamHandle stream, EventHandle event, unsigned) {
  if (const int answer = in_context("cuStreamWaitEvent"); answer != kSuccess) return answer;
  World& w = world();
  auto* const target = reinterpret_cast<Event*>(event);
  std::uint64_t record = 0;
  {
    std::lock_guard lock(w.mutex);
    record = target->recorded;
    if (record == 0) w.broken("cuStreamWaitEvent on an event that was never recorded");
  }
  return enqueue(stream, "cuStreamWaitEvent", [target, record] {
    World& inner = world();
    std::unique_lock lock(inner.mutex);
    inner.changed.wait(lock, [&] { return target->reached >= record; });
  });
}

int cuEventQuery(EventHandle event) {
  if (const int answer = in_context("cuEventQuery"); answer != kSuccess) return answer;
  std::lock_guard lock(world().mutex);
  const auto* const target = reinterpret_cast<const Event*>(event);
  return target->reached < target->recorded ? kNotReady : kSuccess;
}

int cuEventElapsedTime(float* milliseconds, EventHandle from, EventHandle to) {
  if (const int answer = in_context("cuEventElapsedTime"); answer != kSuccess) return answer;
  std::lock_guard lock(world().mutex);
  const auto *begin = reinterpret_cast<const Event*>(from),
             *end = reinterpret_cast<const Event*>(to);
  if (begin->reached < begin->recorded || end->reached < end->recorded) return kNotReady;
  *milliseconds = std::chrono::duration<float, std::milli>(end->at - begin->at).count();
  return kSuccess;
}

int cuMemcpyHtoDAsync_v2(DevicePointer to, const void* from, std::size_t bytes,
                         StreamHandle stream) {
  return copy("cuMemcpyHtoDAsync_v2", {to, nullptr},
              {0, static_cast<std::byte*>(const_cast<void*>(from))}, bytes, stream);
}

int cuMemcpyDtoHAsync_v2(void* to, DevicePointer from, std::size_t bytes, StreamHandle stream) {
  return copy("cuMemcpyDtoHAsync_v2", {0, static_cast<std::byte*>(to)}, {from, nullptr}, bytes,
              stream);
}

int cuMemcpyDtoDAsync_v2(DevicePointer to, DevicePointer from, std::size_t bytes,
                         StreamHandle stream) {
  return copy("cuMemcpyDtoDAsync_v2", {to, nullptr}, {from, nullptr}, bytes, stream);
}

int cuMemsetD8Async(DevicePointer to, unsigned char value, std::size_t count, StreamHandle stream) {
  if (const int answer = in_context("cuMemsetD8Async"); answer != kSuccess) return answer;
  return enqueue(stream, "cuMemsetD8Async", [=] {
    World& w = world();
    std::unique_lock lock(w.mutex);
    if (w.lost != kSuccess) return;
    std::byte* const target = behind(to, count);
    if (target == nullptr) {
      w.broken("cuMemsetD8Async of device memory that is not allocated");
      w.lost = kIllegalAddress;
      return;
    }
    lock.unlock();
    std::memset(target, value, count);
  });
}

int cuLaunchHostFunc(StreamHandle stream, HostFunction function, void* argument) {
  if (const int answer = in_context("cuLaunchHostFunc"); answer != kSuccess) return answer;
  return enqueue(stream, "cuLaunchHostFunc", [=] { function(argument); });
}

int cuGetErrorName(int code, const char** name) {
  *name = code == kOutOfMemory ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_OF_THE_DOUBLE";
  return kSuccess;
}

int cuGetErrorString(int, const char** text) {
  *text = "an answer of the double";
  return kSuccess;
}

static int copy_batch(DevicePointer* to, DevicePointer* from, std::size_t* bytes, std::size_t count,
                      CopyAttributes* attributes, std::size_t* first_of,
                      std::size_t attribute_count, std::size_t* failed, StreamHandle stream) {
  const char* const entry = "cuMemcpyBatchAsync";
  *failed = SIZE_MAX;
  if (const int answer = in_context(entry); answer != kSuccess) return answer;
  if (count == 0 || attribute_count != 1 || first_of[0] != 0) return kInvalidValue;
  for (std::size_t i = 0; i < count; ++i) {
    Place source = place(from[i]);
    std::shared_ptr<std::vector<std::byte>> early;
    {
      std::lock_guard lock(world().mutex);
      std::byte* target = nullptr;
      const std::byte* now = nullptr;
      if (!resolve(entry, place(to[i]), source, bytes[i], target, now)) {
        *failed = i;
        return kInvalidValue;
      }
      // Any other order lets the driver read the source at once, so this one does.
      if (attributes->source_order != kSourceInStreamOrder) {
        early = std::make_shared<std::vector<std::byte>>(now, now + bytes[i]);
      }
    }
    int answer = kSuccess;
    if (early) {
      const DevicePointer target = to[i];
      answer = enqueue(stream, entry, [early, target] {
        std::lock_guard lock(world().mutex);
        std::byte* const there = (target & kDisguise) != 0 ? behind(target, early->size())
                                                           : reinterpret_cast<std::byte*>(target);
        if (there != nullptr) std::memcpy(there, early->data(), early->size());
      });
    } else {
      answer = enqueue(stream, entry, copying(entry, place(to[i]), source, bytes[i]));
    }
    if (answer != kSuccess) return answer;
  }
  return kSuccess;
}

int cuGetProcAddress_v2(const char* symbol, void** found, int version, std::uint64_t, int* status) {
  std::lock_guard lock(world().mutex);
  const bool batch = std::strcmp(symbol, "cuMemcpyBatchAsync") == 0 && version == kBatchVersion;
  *found = batch && world().batch ? reinterpret_cast<void*>(&copy_batch) : nullptr;
  *status = *found != nullptr ? 0 : 1;
  return kSuccess;
}

}  // extern "C"
