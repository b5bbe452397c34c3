// SPDX-License-Identifier: Apache-2.0
#include "suites/serving/disk_report.h"

#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/vfs.h>

#include <string>
#include <utility>

namespace kvroof {
namespace {

constexpr long kXfs = 0x58465342, kZfs = 0x2FC12FC1;  // not in linux/magic.h

// By the number that the kernel gives; the number itself where we have no name for it.
std::string file_system(const std::string& path) {
  struct statfs facts {};
  if (::statfs(path.c_str(), &facts) != 0) return "unknown";
  for (const auto& [magic, name] : {std::pair<long, const char*>{EXT4_SUPER_MAGIC, "ext4"},
                                    {kXfs, "xfs"},
                                    {kZfs, "zfs"},
                                    {BTRFS_SUPER_MAGIC, "btrfs"},
                                    {OVERLAYFS_SUPER_MAGIC, "overlay"},
                                    {NFS_SUPER_MAGIC, "nfs"}}) {
    if (facts.f_type == magic) return name;
  }
  return fmt::format("{:#x}", static_cast<unsigned long>(facts.f_type));
}

// How the lanes move files; `why`s are of the lane that has one.
void add_ways(const DiskLanes& lanes, Json& json) {
  const DiskFacts &reads = lanes.reads, &writes = lanes.writes;
  json["engine"] = reads.engine;
  json["files_direct"] = reads.direct_files + writes.direct_files;
  json["files_buffered"] = reads.buffered_files + writes.buffered_files;
  json["registered_bytes"] = reads.registered_bytes + writes.registered_bytes;
  for (const auto& [key, one, other] :
       {std::tuple{"why_not_io_uring", &reads.not_better, &writes.not_better},
        {"why_buffered", &reads.buffered, &writes.buffered},
        {"why_unregistered", &reads.unregistered, &writes.unregistered}}) {
    const std::string& why = one->empty() ? *other : *one;
    if (!why.empty()) json[key] = why;
  }
}

void add_counts(const DiskTierCounters& seen, const DiskLanes& lanes, Json& json) {
  json["chunks_written"] = seen.written_chunks;
  json["chunks_read"] = seen.read_chunks;
  json["chunks_evicted"] = seen.evicted;
  json["writes_refused"] = seen.refused;
  json["writes_missed"] = lanes.missed_writes;
  json["writes_failed"] = seen.failed_writes;
  json["reads_failed"] = seen.failed_reads;
  json["files_torn"] = seen.torn;
  json["files_foreign"] = seen.foreign;
}

}  // namespace

Json disk_json(const Session& s) {
  const Engine& engine = *s.engines.front();
  const DiskTier* disk = engine.disk();
  if (!disk) return {};
  const DiskLanes lanes = engine.disk_lanes();
  Json json = {{"file_system", s.spec.backed ? file_system(s.spec.disk_path) : "none"},
               {"bytes", disk->max_bytes()},
               {"bytes_used", disk->bytes()},
               {"chunks", disk->chunks()}};
  add_ways(lanes, json);
  add_counts(disk->counters(), lanes, json);
  return json;
}

}  // namespace kvroof
