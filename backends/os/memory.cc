// SPDX-License-Identifier: Apache-2.0
#include "backends/os/memory.h"

#include <numa.h>
#include <numaif.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

#include "backends/os/errors.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23  // Linux 5.14; glibc 2.36 has it, older headers may not
#endif

namespace kvroof::os {
namespace {

constexpr std::uint64_t kSmallPageBytes = 4096;

std::uint64_t round_up(std::uint64_t bytes, std::uint64_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

// "AnonHugePages:      2048 kB" -> 2048 * 1024 where `line` starts with `key`, else `otherwise`.
std::uint64_t kib_field(const std::string& line, const char* key, std::uint64_t otherwise) {
  if (line.rfind(key, 0) != 0) return otherwise;
  std::istringstream fields(line.substr(line.find(':') + 1));
  std::uint64_t kib = 0;
  return fields >> kib ? kib * 1024 : otherwise;
}

bool covers(const std::string& line, std::uint64_t address) {
  unsigned long begin = 0, end = 0;
  return std::sscanf(line.c_str(), "%lx-%lx ", &begin, &end) == 2 && begin <= address &&
         address < end;
}

}  // namespace

std::uint64_t mapped_bytes(std::uint64_t bytes) {
  return round_up(bytes, bytes < kHugePageBytes ? kSmallPageBytes : kHugePageBytes);
}

std::uint64_t available_memory() {
  std::ifstream file("/proc/meminfo");
  std::uint64_t bytes = 0;
  for (std::string line; std::getline(file, line);) bytes = kib_field(line, "MemAvailable:", bytes);
  return bytes;
}

Result<std::unique_ptr<Mapping>> Mapping::create(std::uint64_t bytes, int node) {
  const int last = numa_available() < 0 ? 0 : numa_max_node();
  if (node < -1 || node > last) {
    return Status{Code::invalid, "NUMA node " + std::to_string(node) +
                                     " does not exist: ask for -1 to " + std::to_string(last)};
  }
  std::unique_ptr<Mapping> mapping(new Mapping);
  const std::uint64_t rounded = mapped_bytes(bytes);
  if (Status status = mapping->reserve(rounded); !status.ok()) return status;
  if (Status status = mapping->populate(rounded, node); !status.ok()) return status;
  return mapping;
}

Status Mapping::reserve(std::uint64_t bytes) {
  const std::uint64_t total = bytes + 2 * kHugePageBytes;
  void* reserved =
      mmap(nullptr, total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) {
    return from_errno(errno, "mapping " + std::to_string(bytes) + " bytes");
  }
  reserved_ = reserved;
  reserved_bytes_ = total;
  // At least one small page stays inaccessible on either side.
  const auto inner = reinterpret_cast<std::uintptr_t>(reserved) + kSmallPageBytes;
  data_ = reinterpret_cast<std::byte*>(round_up(inner, kHugePageBytes));
  return {};
}

Status Mapping::populate(std::uint64_t bytes, int node) {
  const std::string doing = "populating " + std::to_string(bytes) + " bytes";
  if (mprotect(data_, bytes, PROT_READ | PROT_WRITE) != 0) return from_errno(errno, doing);
  // Advice: a kernel without transparent huge pages still gives small ones, and facts() say so.
  if (bytes >= kHugePageBytes) (void)madvise(data_, bytes, MADV_HUGEPAGE);
  if (node >= 0) numa_tonode_memory(data_, bytes, node);
  if (madvise(data_, bytes, MADV_POPULATE_WRITE) == 0) return {};
  if (errno != EINVAL) return from_errno(errno == EFAULT ? ENOMEM : errno, doing);
  for (std::uint64_t at = 0; at < bytes; at += kSmallPageBytes) data_[at] = std::byte{0};
  return {};
}

Mapping::~Mapping() {
  if (reserved_ != nullptr) munmap(reserved_, reserved_bytes_);
}

PageLock::PageLock(void* data, std::uint64_t bytes) {
  if (mlock(data, bytes) != 0) return;
  data_ = data;
  bytes_ = bytes;
}

PageLock::~PageLock() {
  if (data_ != nullptr) munlock(data_, bytes_);
}

int one_node(std::uint64_t bytes, const std::function<int(std::uint64_t offset)>& node_at) {
  constexpr std::uint64_t kLooks = 64;
  const int first = node_at(0);
  for (std::uint64_t look = 1; look < kLooks; ++look) {
    // bytes - 1 is cut first, so that the product can't overflow; the last look is at the end.
    const std::uint64_t offset = look == kLooks - 1 ? bytes - 1 : (bytes - 1) / (kLooks - 1) * look;
    if (node_at(offset) != first) return -1;
  }
  return first;
}

int node_of(const void* data, std::uint64_t bytes) {
  return one_node(bytes, [data](std::uint64_t offset) {
    int node = -1;
    auto* const at = const_cast<std::byte*>(static_cast<const std::byte*>(data)) + offset;
    const long answer = get_mempolicy(&node, nullptr, 0, at, MPOL_F_NODE | MPOL_F_ADDR);
    return answer == 0 ? node : -1;
  });
}

std::uint64_t page_bytes_of(const void* data) {
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  std::ifstream file("/proc/self/smaps");
  std::string line;
  while (std::getline(file, line) && !covers(line, address)) continue;
  std::uint64_t resident = 0, huge = 0, page = 0;
  while (std::getline(file, line) && line.rfind("VmFlags", 0) != 0) {
    resident = kib_field(line, "Rss:", resident);
    huge = kib_field(line, "AnonHugePages:", huge);
    page = kib_field(line, "KernelPageSize:", page);
  }
  return resident > 0 && huge == resident ? kHugePageBytes : page;
}

bool Budget::take(std::uint64_t bytes) {
  std::lock_guard lock(mutex_);
  if (bytes > limit_ - used_) return false;
  used_ += bytes;
  return true;
}

void Budget::give(std::uint64_t bytes) {
  std::lock_guard lock(mutex_);
  used_ -= bytes;
}

std::uint64_t Budget::left() const {
  std::lock_guard lock(mutex_);
  return limit_ - used_;
}

}  // namespace kvroof::os
