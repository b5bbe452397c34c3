// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/info.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <string>

#include "backends/cuda/errors.h"
#include "backends/os/memory.h"
#include "backends/stream/queue.h"

namespace kvroof::cuda {
namespace {

constexpr std::uint64_t kMaxRegions = 4096;
constexpr std::uint64_t kMaxOpenTickets =
    256;                                 // the driver holds about a thousand commands a stream
constexpr std::uint64_t kOwnShare = 16;  // of what is free, for the driver and this process

// "13000" is 13.0.
std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

// -1 where the kernel does not know.
int node_of_bus(std::string id) {
  std::transform(id.begin(), id.end(), id.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  std::ifstream file("/sys/bus/pci/devices/" + id + "/numa_node");
  int node = -1;
  file >> node;
  return file ? node : -1;
}

std::uint64_t usable(std::uint64_t free) { return free - free / kOwnShare; }

}  // namespace

Result<DeviceInfo> describe(const EntryPoints& entry, DeviceId device) {
  std::array<char, 256> name{};
  std::array<char, 32> bus{};
  std::size_t free = 0, total = 0;
  int version = 0;
  const std::pair<int, const char*> answers[] = {
      {entry.device_name(name.data(), static_cast<int>(name.size()) - 1, device),
       "cuDeviceGetName"},
      {entry.bus_id(bus.data(), static_cast<int>(bus.size()) - 1, device), "cuDeviceGetPCIBusId"},
      {entry.driver_version(&version), "cuDriverGetVersion"},
      {entry.memory_info(&free, &total), "cuMemGetInfo"}};
  for (const auto& [answer, doing] : answers) {
    if (Status status = from_cuda(entry, answer, doing); !status.ok()) return status;
  }
  DeviceInfo info;
  info.backend = "cuda";
  info.name = name.data();
  info.driver = version_text(version);
  info.bus_id = bus.data();
  info.numa_node = node_of_bus(info.bus_id);
  info.memory_bytes = usable(free);
  info.host_memory_bytes = usable(os::available_memory());
  info.basis = Basis::measured;
  info.copy_unavailable[static_cast<std::size_t>(CopyMethod::kernel)] = stream::kNoCopyKernels;
  if (entry.copy_batch == nullptr) {
    info.copy_unavailable[static_cast<std::size_t>(CopyMethod::batch)] = stream::kNoBatch;
  }
  info.bf16_unavailable = "the CUDA adapter copies, and has no kernels yet";
  info.max_regions = kMaxRegions;
  info.max_open_tickets = kMaxOpenTickets;
  return info;
}

}  // namespace kvroof::cuda
