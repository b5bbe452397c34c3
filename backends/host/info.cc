// SPDX-License-Identifier: Apache-2.0
#include "backends/host/info.h"

#include <numa.h>
#include <sched.h>
#include <sys/utsname.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "backends/os/memory.h"

namespace kvroof::host {
namespace {

constexpr std::uint64_t kMaxRegions = 65536;
constexpr std::uint64_t kMaxOpenTickets = 4096;
constexpr unsigned kMaxCopyWorkers = 4;
// Of what is available, for this process itself: an op's scratch, threads, page tables.
constexpr std::uint64_t kOwnShare = 16;

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(':');
    if (line.rfind("model name", 0) == 0 && colon != std::string::npos) {
      return line.substr(std::min(line.size(), colon + 2));
    }
  }
  return "CPU";
}

unsigned usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return static_cast<unsigned>(std::max(1, CPU_COUNT(&set)));
}

// The one node that all usable cores belong to, else -1.
int home_node() {
  cpu_set_t set;
  if (numa_available() < 0 || sched_getaffinity(0, sizeof set, &set) != 0) return -1;
  int home = -1;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &set)) continue;
    const int node = numa_node_of_cpu(cpu);
    if (node < 0 || (home >= 0 && node != home)) return -1;
    home = node;
  }
  return home;
}

// oneDNN runs bf16 on vectors from AVX-512 (F, BW, DQ, VL) on, and not at all below.
std::string why_no_bf16() {
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    return {};
  }
  return "this CPU has no AVX-512, without which oneDNN has no bf16 matrix product; use f32";
}

std::string kernel_version() {
  utsname system{};
  return uname(&system) == 0 ? std::string("Linux ") + system.release : std::string();
}

}  // namespace

// A lane's threads share out a submission's regions: nothing that a batch could do better is left.
Status no_batch() {
  return {Code::unsupported,
          "the host's lanes take all regions of a submission in one call, so batch would be dma: "
          "use --copy dma"};
}

DeviceInfo describe() {
  const std::uint64_t available = os::available_memory();
  const std::uint64_t half =
      (available - available / kOwnShare) / 2 / os::kHugePageBytes * os::kHugePageBytes;
  const unsigned cores = usable_cores();
  DeviceInfo info;
  info.backend = "host";
  info.name = cpu_model() + ", " + std::to_string(cores) + (cores == 1 ? " core" : " cores");
  info.driver = kernel_version();
  info.numa_node = home_node();
  info.memory_bytes = half;
  info.host_memory_bytes = half;
  info.copy_unavailable[static_cast<std::size_t>(CopyMethod::batch)] = no_batch().text;
  info.bf16_unavailable = why_no_bf16();
  info.max_regions = kMaxRegions;
  info.sums_copies = true;
  info.max_open_tickets = kMaxOpenTickets;
  return info;
}

unsigned copy_workers() { return std::min(usable_cores(), kMaxCopyWorkers); }

}  // namespace kvroof::host
