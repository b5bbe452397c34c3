// SPDX-License-Identifier: Apache-2.0
// CUDA's driver API as far as the adapter calls it: declared here, so that no header of the
// vendor's is needed to build, and loaded from libcuda.so.1 at run time. abi_test.cc compares with
// cuda.h where that is installed.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "backends/api/status.h"

namespace kvroof::cuda {

using DeviceId = int;
using Context = struct ContextHandle*;
using StreamHandle = struct StreamTag*;
using EventHandle = struct EventTag*;
using DevicePointer = unsigned long long;
using HostFunction = void (*)(void*);

// Codes that decide something; all others are told by name.
enum Answer : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kDeinitialized = 4,
  kNoDevice = 100,
  kInvalidDevice = 101,
  kInvalidContext = 201,
  kEccUncorrectable = 214,
  kNvlinkUncorrectable = 220,
  kNotReady = 600,
  kIllegalAddress = 700,
  kContextIsDestroyed = 709,
  kMisalignedAddress = 716,
  kLaunchFailed = 719,
  kNotSupported = 801,
};

struct MemoryLocation {
  int type, id;
};
struct CopyAttributes {
  int source_order;
  MemoryLocation source, destination;
  unsigned flags;
};
inline constexpr int kSourceInStreamOrder = 1;
inline constexpr unsigned kNonBlockingStream = 1, kPortableRegistration = 1;
inline constexpr int kBatchVersion = 12080;  // its signature has the index of what failed

struct EntryPoints {
  int (*init)(unsigned flags);
  int (*driver_version)(int* version);
  int (*device_count)(int* count);
  int (*device)(DeviceId* device, int ordinal);
  int (*device_name)(char* name, int length, DeviceId device);
  int (*bus_id)(char* id, int length, DeviceId device);
  int (*retain_context)(Context* context, DeviceId device);
  int (*release_context)(DeviceId device);
  int (*set_context)(Context context);
  int (*priority_range)(int* least, int* greatest);
  int (*memory_info)(std::size_t* free, std::size_t* total);
  int (*allocate)(DevicePointer* memory, std::size_t bytes);
  int (*free)(DevicePointer memory);
  int (*register_host)(void* host, std::size_t bytes, unsigned flags);
  int (*unregister_host)(void* host);
  int (*create_stream)(StreamHandle* stream, unsigned flags, int priority);
  int (*destroy_stream)(StreamHandle stream);
  int (*synchronize_stream)(StreamHandle stream);
  int (*wait_event)(StreamHandle stream, EventHandle event, unsigned flags);
  int (*create_event)(EventHandle* event, unsigned flags);
  int (*destroy_event)(EventHandle event);
  int (*record_event)(EventHandle event, StreamHandle stream);
  int (*query_event)(EventHandle event);
  int (*elapsed)(float* milliseconds, EventHandle from, EventHandle to);
  int (*copy_in)(DevicePointer to, const void* from, std::size_t bytes, StreamHandle stream);
  int (*copy_out)(void* to, DevicePointer from, std::size_t bytes, StreamHandle stream);
  int (*copy_within)(DevicePointer to, DevicePointer from, std::size_t bytes, StreamHandle stream);
  int (*set_bytes)(DevicePointer to, unsigned char value, std::size_t count, StreamHandle stream);
  int (*host_function)(StreamHandle stream, HostFunction function, void* argument);
  int (*error_name)(int code, const char** name);
  int (*error_text)(int code, const char** text);
  int (*find)(const char* symbol, void** found, int version, std::uint64_t flags, int* status);
  // Null where the driver is older than 12.8.
  int (*copy_batch)(DevicePointer* to, DevicePointer* from, std::size_t* bytes, std::size_t count,
                    CopyAttributes* attributes, std::size_t* first_of, std::size_t attribute_count,
                    std::size_t* failed, StreamHandle stream);
};

// `unsupported`, saying what was looked for, where the library or one of its functions is missing.
// The library stays loaded.
Result<EntryPoints> load(const std::string& library);

}  // namespace kvroof::cuda
