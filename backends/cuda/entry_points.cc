// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/entry_points.h"

#include <dlfcn.h>

namespace kvroof::cuda {
namespace {

class Loader {
 public:
  explicit Loader(void* library) : library_(library) {}

  template <class Function>
  void load(const char* symbol, Function*& to) {
    to = reinterpret_cast<Function*>(dlsym(library_, symbol));
    if (to == nullptr && missing_ == nullptr) missing_ = symbol;
  }
  const char* missing() const { return missing_; }

 private:
  void* library_;
  const char* missing_ = nullptr;
};

void load_all(Loader& from, EntryPoints& e) {
  from.load("cuInit", e.init);
  from.load("cuDriverGetVersion", e.driver_version);
  from.load("cuDeviceGetCount", e.device_count);
  from.load("cuDeviceGet", e.device);
  from.load("cuDeviceGetName", e.device_name);
  from.load("cuDeviceGetPCIBusId", e.bus_id);
  from.load("cuDevicePrimaryCtxRetain", e.retain_context);
  from.load("cuDevicePrimaryCtxRelease_v2", e.release_context);
  from.load("cuCtxSetCurrent", e.set_context);
  from.load("cuCtxGetStreamPriorityRange", e.priority_range);
  from.load("cuMemGetInfo_v2", e.memory_info);
  from.load("cuMemAlloc_v2", e.allocate);
  from.load("cuMemFree_v2", e.free);
  from.load("cuMemHostRegister_v2", e.register_host);
  from.load("cuMemHostUnregister", e.unregister_host);
  from.load("cuStreamCreateWithPriority", e.create_stream);
  from.load("cuStreamDestroy_v2", e.destroy_stream);
  from.load("cuStreamSynchronize", e.synchronize_stream);
  from.load("cuStreamWaitEvent", e.wait_event);
  from.load("cuEventCreate", e.create_event);
  from.load("cuEventDestroy_v2", e.destroy_event);
  from.load("cuEventRecord", e.record_event);
  from.load("cuEventQuery", e.query_event);
  from.load("cuEventElapsedTime", e.elapsed);
  from.load("cuMemcpyHtoDAsync_v2", e.copy_in);
  from.load("cuMemcpyDtoHAsync_v2", e.copy_out);
  from.load("cuMemcpyDtoDAsync_v2", e.copy_within);
  from.load("cuMemsetD8Async", e.set_bytes);
  from.load("cuLaunchHostFunc", e.host_function);
  from.load("cuGetErrorName", e.error_name);
  from.load("cuGetErrorString", e.error_text);
  from.load("cuGetProcAddress_v2", e.find);
}

}  // namespace

Result<EntryPoints> load(const std::string& library) {
  void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    return Status{Code::unsupported,
                  "no CUDA driver: " + std::string(dlerror()) + "; install NVIDIA's driver"};
  }
  EntryPoints made{};
  Loader loader(handle);
  load_all(loader, made);
  if (loader.missing() != nullptr) {
    return Status{Code::unsupported, library + " has no " + loader.missing() +
                                         ": it is older than CUDA 12; update NVIDIA's driver"};
  }
  void* batch = nullptr;
  int status = 0;
  if (made.find("cuMemcpyBatchAsync", &batch, kBatchVersion, 0, &status) == kSuccess) {
    made.copy_batch = reinterpret_cast<decltype(made.copy_batch)>(batch);
  }
  return made;
}

}  // namespace kvroof::cuda
