// SPDX-License-Identifier: Apache-2.0
// The machine that a run took place on, as far as the operating system tells.
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "suites/harness/json.h"

namespace kvroof {

// Where the system does not say: text is "unknown", numbers are 0, the optional is empty.
struct SystemInfo {
  std::string cpu;
  unsigned sockets = 0, cores = 0, threads = 0;  // online
  unsigned threads_allowed = 0;                  // by this process's affinity mask
  std::vector<std::string> isa;                  // extensions that the ops can use
  std::optional<bool> virtualised;               // the CPU says that a hypervisor runs it
  std::uint64_t memory_bytes = 0;
  std::vector<std::uint64_t> numa_node_bytes;  // one entry a node
  std::string kernel, distribution;
  std::map<std::string, std::string> threading;       // variables that steer OpenMP and oneDNN
  std::string governor;                               // "not exposed" where the kernel offers none
  std::string transparent_huge_pages;                 // always, madvise or never
  std::uint64_t huge_page_bytes = 0, huge_pages = 0;  // the hugetlb pool of the default size
  std::uint64_t memlock_bytes = 0;                    // UINT64_MAX: unlimited
  unsigned iommu_groups = 0;
  double load_average_1min = 0;  // when the run began: was the machine quiet?
};

// `root` stands for / where /proc, /sys and /etc are read.
SystemInfo read_system_info(const std::filesystem::path& root = "/");

Json system_json(const SystemInfo& info);

}  // namespace kvroof
