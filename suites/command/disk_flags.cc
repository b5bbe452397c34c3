// SPDX-License-Identifier: Apache-2.0
#include "suites/command/disk_flags.h"

#include <fmt/format.h>
#include <sys/statvfs.h>

#include <algorithm>

#include "suites/serving/session.h"
#include "transfer/disk/chunk_file.h"
#include "transfer/disk/disk_root.h"
#include "transfer/disk/entries.h"

namespace kvroof {
namespace {

Status invalid(std::string text) { return {Code::invalid, std::move(text)}; }

bool wants_disk(const Grid& grid) {
  return std::ranges::any_of(grid.disk, [](DiskSize size) { return size.bytes > 0; });
}

std::uint64_t file_bytes(const ModelShape& shape, const GridPoint& p) {
  SessionSpec spec;
  spec.kv_dtype = p.kv_dtype;
  spec.layout = p.layout;
  spec.block_tokens = p.block_tokens;
  spec.blocks = 1;
  const KvLayout kv = session_layouts(shape, spec).front();
  return kChunkHeaderBytes + p.blocks_per_chunk * kv.block_bytes();
}

}  // namespace

Status check_disk_flags(const std::string& directory, const Grid& grid, bool is_virtual) {
  if (!wants_disk(grid)) {
    return directory.empty() ? Status{}
                             : invalid(
                                   "--disk: how much may be written there is expected as well: "
                                   "give --disk-bytes");
  }
  if (directory.empty() && !is_virtual) {
    return invalid("--disk-bytes: a directory to write to is expected as well: give --disk");
  }
  if (!grid.check_tokens) return {};
  return invalid(
      "--check-tokens and --disk-bytes: files hold no tokens to check, give one of them");
}

Status check_disk_bounds(const ModelShape& shape, std::span<const ComparisonGroup> groups) {
  for (const ComparisonGroup& group : groups) {
    const GridPoint& p = group.point;
    const std::uint64_t file = file_bytes(shape, p);
    if (p.disk.bytes == 0 || p.disk.bytes >= file) continue;
    return invalid(
        fmt::format("--disk-bytes: {} bytes are less than the {} that the file of one "
                    "chunk takes (--blocks-per-chunk {}): give more, or smaller chunks",
                    p.disk.bytes, file, p.blocks_per_chunk));
  }
  return {};
}

Status open_disk_for(const std::string& directory, const Grid& grid) {
  const auto refused = [](const Status& why) { return invalid("--disk: " + why.text); };
  const auto root = open_disk_root(directory);
  if (!root) return refused(root.status());
  const auto files = chunk_files(*root);
  if (!files) return refused(files.status());
  std::uint64_t room = 0;
  for (const ChunkFile& file : *files) room += file.bytes;  // which may go
  struct statvfs facts {};
  if (::fstatvfs(root->descriptor(), &facts) != 0) return {};
  room += std::uint64_t{facts.f_bavail} * facts.f_frsize;
  const std::uint64_t most = std::ranges::max(grid.disk, {}, &DiskSize::bytes).bytes;
  if (most <= room) return {};
  return invalid(
      fmt::format("--disk: {} has room for {} bytes, fewer than the {} of --disk-bytes: "
                  "free some, or give less",
                  directory, room, most));
}

}  // namespace kvroof
