// SPDX-License-Identifier: Apache-2.0
#include "suites/harness/system_info.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <set>
#include <sstream>
#include <utility>

namespace kvroof {
namespace {

namespace fs = std::filesystem;

// What oneDNN and the copy loops can make use of, on x86 and on Arm.
constexpr std::string_view kIsa[] = {"avx2",        "fma",      "avx512f",  "avx512_bf16",
                                     "avx512_vnni", "amx_bf16", "amx_int8", "asimd",
                                     "sve",         "bf16",     "i8mm"};

std::string first_line(const fs::path& file, const std::string& otherwise = "unknown") {
  std::ifstream stream(file);
  std::string line;
  return std::getline(stream, line) && !line.empty() ? line : otherwise;
}

std::string trimmed(const std::string& text) {
  const auto begin = text.find_first_not_of(" \t\"");
  if (begin == std::string::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\"") - begin + 1);
}

// The value of the first line "key<separator>value".
std::string value_of(const fs::path& file, std::string_view key, char separator) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    const auto at = line.find(separator);
    if (at != std::string::npos && trimmed(line.substr(0, at)) == key) {
      return trimmed(line.substr(at + 1));
    }
  }
  return {};
}

std::uint64_t number(const std::string& text) {
  std::uint64_t value = 0;
  std::istringstream(text) >> value;
  return value;
}

std::vector<fs::path> entries(const fs::path& directory, std::string_view prefix = "") {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
    if (at->path().filename().string().starts_with(prefix)) found.push_back(at->path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

void read_cpu(const fs::path& root, SystemInfo& info) {
  const fs::path cpuinfo = root / "proc/cpuinfo";
  info.cpu = value_of(cpuinfo, "model name", ':');
  if (info.cpu.empty()) info.cpu = "unknown";
  const bool x86 = !value_of(cpuinfo, "flags", ':').empty();
  std::istringstream words(value_of(cpuinfo, x86 ? "flags" : "Features", ':'));
  std::set<std::string, std::less<>> flags;
  for (std::string word; words >> word;) flags.insert(word);
  for (const std::string_view one : kIsa) {
    if (flags.contains(one)) info.isa.emplace_back(one);
  }
  if (x86) info.virtualised = flags.contains("hypervisor");
  for (const char* name : {"OMP_NUM_THREADS", "OMP_WAIT_POLICY", "OMP_PROC_BIND", "OMP_PLACES",
                           "GOMP_SPINCOUNT", "GOMP_CPU_AFFINITY", "ONEDNN_MAX_CPU_ISA"}) {
    if (const char* value = std::getenv(name)) info.threading[name] = value;
  }
  info.governor =
      first_line(root / "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "not exposed");
}

void read_topology(const fs::path& root, SystemInfo& info) {
  std::set<std::string> sockets;
  std::set<std::pair<std::string, std::string>> cores;
  for (const fs::path& cpu : entries(root / "sys/devices/system/cpu", "cpu")) {
    const std::string core = first_line(cpu / "topology/core_id", "");
    if (core.empty()) continue;
    const std::string socket = first_line(cpu / "topology/physical_package_id", "0");
    sockets.insert(socket);
    cores.insert({socket, core});
    ++info.threads;
  }
  info.sockets = static_cast<unsigned>(sockets.size());
  info.cores = static_cast<unsigned>(cores.size());
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) {
    info.threads_allowed = static_cast<unsigned>(CPU_COUNT(&allowed));
  }
}

void read_memory(const fs::path& root, SystemInfo& info) {
  const fs::path meminfo = root / "proc/meminfo";
  info.memory_bytes = number(value_of(meminfo, "MemTotal", ':')) * 1024;
  info.huge_page_bytes = number(value_of(meminfo, "Hugepagesize", ':')) * 1024;
  info.huge_pages = number(value_of(meminfo, "HugePages_Total", ':'));
  for (const fs::path& node : entries(root / "sys/devices/system/node", "node")) {
    const std::string key = "Node " + node.filename().string().substr(4) + " MemTotal";
    info.numa_node_bytes.push_back(number(value_of(node / "meminfo", key, ':')) * 1024);
  }
  // "always [madvise] never": the one in brackets is in force.
  const std::string modes = first_line(root / "sys/kernel/mm/transparent_hugepage/enabled", "");
  const auto begin = modes.find('['), end = modes.find(']');
  const bool found = begin < end && end != std::string::npos;
  info.transparent_huge_pages = found ? modes.substr(begin + 1, end - begin - 1) : "unknown";
}

std::uint64_t memlock_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0) return 0;
  if (limit.rlim_cur == RLIM_INFINITY) return std::numeric_limits<std::uint64_t>::max();
  return limit.rlim_cur;
}

}  // namespace

SystemInfo read_system_info(const fs::path& root) {
  SystemInfo info;
  read_cpu(root, info);
  read_topology(root, info);
  read_memory(root, info);
  utsname names{};
  info.kernel = uname(&names) == 0 ? std::string(names.release) + " " + names.machine : "unknown";
  info.distribution = value_of(root / "etc/os-release", "PRETTY_NAME", '=');
  if (info.distribution.empty()) info.distribution = "unknown";
  info.memlock_bytes = memlock_limit();
  info.iommu_groups = static_cast<unsigned>(entries(root / "sys/kernel/iommu_groups").size());
  std::istringstream(first_line(root / "proc/loadavg", "0")) >> info.load_average_1min;
  return info;
}

Json system_json(const SystemInfo& info) {
  const bool unlimited = info.memlock_bytes == std::numeric_limits<std::uint64_t>::max();
  Json json = {{"cpu", info.cpu},
               {"sockets", info.sockets},
               {"cores", info.cores},
               {"threads", info.threads},
               {"threads_allowed", info.threads_allowed},
               {"isa", info.isa},
               {"memory_bytes", info.memory_bytes},
               {"numa_node_bytes", info.numa_node_bytes},
               {"kernel", info.kernel},
               {"distribution", info.distribution},
               {"threading", info.threading},
               {"governor", info.governor},
               {"transparent_huge_pages", info.transparent_huge_pages},
               {"huge_page_bytes", info.huge_page_bytes},
               {"huge_pages", info.huge_pages},
               {"memlock_bytes", unlimited ? Json("unlimited") : Json(info.memlock_bytes)},
               {"iommu_groups", info.iommu_groups},
               {"load_average_1min", info.load_average_1min}};
  if (info.virtualised) json["virtualised"] = *info.virtualised;
  return json;
}

}  // namespace kvroof
