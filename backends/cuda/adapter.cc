// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/adapter.h"

#include <utility>

#include "backends/cuda/driver.h"
#include "backends/cuda/errors.h"
#include "backends/cuda/info.h"
#include "backends/os/errors.h"
#include "backends/stream/device.h"

namespace kvroof::cuda {

Result<std::unique_ptr<Device>> open(const Options& options) try {
  Result<EntryPoints> entry = load(options.library);
  if (!entry) return entry.status();
  if (Status s = from_cuda(*entry, entry->init(0), "cuInit"); !s.ok()) {
    return Status{Code::unsupported, s.text};
  }
  int count = 0;
  if (Status s = from_cuda(*entry, entry->device_count(&count), "cuDeviceGetCount"); !s.ok()) {
    return s;
  }
  if (options.ordinal < 0 || options.ordinal >= count) {
    return Status{Code::unsupported,
                  "the CUDA driver has " + std::to_string(count) +
                      " devices, and no cuda:" + std::to_string(options.ordinal)};
  }
  DeviceId device = 0;
  if (Status s = from_cuda(*entry, entry->device(&device, options.ordinal), "cuDeviceGet");
      !s.ok()) {
    return s;
  }
  auto driver = CudaDriver::create(*entry, device);
  if (!driver) return driver.status();
  auto info = describe(*entry, device);
  if (!info) return info.status();
  return stream::StreamDevice::create(std::move(*driver), std::move(*info), options.piece_bytes);
} catch (...) {
  return os::from_exception();
}

}  // namespace kvroof::cuda
