// SPDX-License-Identifier: Apache-2.0
#include "transfer/disk/entries.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "backends/os/errors.h"
#include "transfer/disk/chunk_file.h"
#include "transfer/disk/disk_root.h"

namespace kvroof {
namespace {

struct CloseDir {
  void operator()(DIR* dir) const { ::closedir(dir); }
};

}  // namespace

Result<std::vector<std::string>> entries(const Directory& root, const std::string& below) {
  auto fd = open_below(root, below);
  if (!fd) return fd.status();
  const std::unique_ptr<DIR, CloseDir> dir(::fdopendir(::fcntl(fd->get(), F_DUPFD_CLOEXEC, 0)));
  if (!dir) return os::from_errno(errno, "listing " + root.path() + "/" + below);
  std::vector<std::string> names;
  while (const dirent* const entry = ::readdir(dir.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  return names;
}

std::optional<ChunkFile> look_at_chunk(const Directory& root, const ChunkKey& key) {
  struct stat facts {};
  const std::string name = chunk_file_name(key);
  if (::fstatat(root.descriptor(), name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0) return {};
  const bool private_to_us = facts.st_uid == ::geteuid() && (facts.st_mode & 07777) == 0600;
  if (!S_ISREG(facts.st_mode) || !private_to_us) return {};
  constexpr std::int64_t kSecond = 1'000'000'000;
  return ChunkFile{key, static_cast<std::uint64_t>(facts.st_size),
                   facts.st_mtim.tv_sec * kSecond + facts.st_mtim.tv_nsec};
}

Result<std::vector<ChunkFile>> chunk_files(const Directory& root) {
  std::vector<ChunkFile> files;
  for (unsigned i = 0; i < 256; ++i) {
    const std::string below = chunk_directory(i);
    const auto names = entries(root, below);
    if (!names) return names.status();
    for (const std::string& name : *names) {
      const auto key = key_of_file(name);
      if (!key || !name.starts_with(below)) continue;
      if (const auto file = look_at_chunk(root, *key)) files.push_back(*file);
    }
  }
  std::ranges::sort(files, std::greater(), &ChunkFile::written);
  return files;
}

void remove_entry(const Directory& root, const std::string& name) {
  (void)::unlinkat(root.descriptor(), name.c_str(), 0);
}

}  // namespace kvroof
