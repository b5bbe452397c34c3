// SPDX-License-Identifier: Apache-2.0
#include "transfer/disk/disk_root.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "backends/os/errors.h"
#include "transfer/disk/entries.h"

namespace kvroof {
namespace {

constexpr const char* kMarker = "kvroof-disk-tier";
constexpr std::string_view kFormat = "kvroof disk tier, format 2\n";
constexpr int kDirectoryFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

Status refused(const std::string& path, std::string_view why) {
  return {Code::invalid, "The disk tier's directory " + path + " " + std::string(why)};
}

// What the file system will not do: the caller's to mend, whatever the code.
Status failed(std::string_view doing, const std::string& path) {
  Status status = os::from_errno(errno, "The disk tier can't " + std::string(doing) + " " + path);
  status.code = Code::failed;
  return status;
}

// A slash at the end would follow a link.
std::string without_slashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

Result<UniqueFd> open_directory(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), kDirectoryFlags));
  if (fd) return fd;
  struct stat facts {};
  if (errno == ENOENT) return refused(path, "does not exist: make it, or name another.");
  if (errno != ENOTDIR && errno != ELOOP) return failed("open", path);
  if (::lstat(path.c_str(), &facts) == 0 && S_ISLNK(facts.st_mode)) {
    return refused(path, "is a symbolic link, which may be changed later: name what it leads to.");
  }
  return refused(path, "is no directory: name one.");
}

Status check_file_system(const Directory& root) {
  struct statfs facts {};
  if (::fstatfs(root.descriptor(), &facts) != 0) return failed("look at", root.path());
  if (facts.f_type != TMPFS_MAGIC && facts.f_type != RAMFS_MAGIC) return {};
  return refused(root.path(),
                 "is on tmpfs, which keeps files in memory, so that the tier would take what the "
                 "host tier needs: name one on a disk.");
}

Result<bool> is_empty(const Directory& root) {
  auto names = entries(root, "");
  if (!names) return names.status();
  std::erase(*names, "lost+found");
  return names->empty();
}

// A marker that is cut short was being written when its process or the machine ended.
Status write_marker(const Directory& root) {
  const UniqueFd fd(
      ::openat(root.descriptor(), kMarker, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  const std::string path = root.path() + "/" + kMarker;
  if (!fd) return failed("write", path);
  const ssize_t wrote = ::pwrite(fd.get(), kFormat.data(), kFormat.size(), 0);
  if (wrote != static_cast<ssize_t>(kFormat.size()) || ::fsync(fd.get()) != 0) {
    return failed("write", path);
  }
  return {};
}

// Looked for twice: another process may make it between the first look and the list of names.
Status check_marker(const Directory& root) {
  UniqueFd fd;
  for (int look = 0; look < 2 && !fd; ++look) {
    fd = UniqueFd(::openat(root.descriptor(), kMarker, O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    if (fd) break;
    if (errno != ENOENT) return failed("read", root.path() + "/" + kMarker);
    const auto empty = is_empty(root);
    if (!empty) return empty.status();
    if (*empty) return write_marker(root);
  }
  if (!fd) {
    return refused(root.path(),
                   "holds files that are not a disk tier's: name an empty directory, or one that "
                   "a disk tier has used.");
  }
  std::array<char, 64> text{};
  const ssize_t got = ::pread(fd.get(), text.data(), text.size(), 0);
  if (got < 0) return failed("read", root.path() + "/" + kMarker);
  const std::string_view is(text.data(), static_cast<std::size_t>(got));
  if (is == kFormat) return {};
  if (kFormat.starts_with(is)) return write_marker(root);
  return refused(root.path(), "holds another format, as its file " + std::string(kMarker) +
                                  " says: name an empty directory.");
}

Status make_directory(const Directory& root, const std::string& name) {
  const std::string path = root.path() + "/" + name;
  if (::mkdirat(root.descriptor(), name.c_str(), 0700) == 0) return {};
  if (errno != EEXIST) return failed("make", path);
  struct stat facts {};
  if (::fstatat(root.descriptor(), name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0) {
    return failed("look at", path);
  }
  if (S_ISDIR(facts.st_mode)) return {};
  return refused(root.path(), "holds " + name + ", which must be a directory: remove it.");
}

Status check_writable(const Directory& root) {
  if (::faccessat(root.descriptor(), ".", W_OK | X_OK, AT_EACCESS) == 0) return {};
  return failed("write to", root.path());
}

}  // namespace

std::string chunk_directory(unsigned number) {
  constexpr std::string_view kHex = "0123456789abcdef";
  return {kHex[number / 16], kHex[number % 16]};
}

Result<UniqueFd> open_below(const Directory& root, const std::string& name) {
  UniqueFd fd(::openat(root.descriptor(), name.empty() ? "." : name.c_str(), kDirectoryFlags));
  if (!fd) return failed("open", root.path() + "/" + name);
  return fd;
}

Result<Directory> open_disk_root(const std::string& asked) {
  const std::string path = without_slashes(asked);
  auto fd = open_directory(path);
  if (!fd) return fd.status();
  Directory root(std::move(*fd), path);
  Status status = check_file_system(root);
  if (status.ok()) status = check_writable(root);
  if (status.ok()) status = check_marker(root);
  if (status.ok()) status = make_directory(root, std::string(kTemporaries));
  for (unsigned i = 0; i < 256 && status.ok(); ++i)
    status = make_directory(root, chunk_directory(i));
  if (!status.ok()) return status;
  return root;
}

}  // namespace kvroof
