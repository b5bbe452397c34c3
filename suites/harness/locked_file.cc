// SPDX-License-Identifier: Apache-2.0
#include "suites/harness/locked_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "suites/harness/durable_file.h"

namespace kvroof {
namespace {

namespace fs = std::filesystem;

constexpr int kMostTries = 100;  // each loses a race against another process's rename or unlink

bool is_still(int fd, const fs::path& file) {
  struct stat opened {
  }, named{};
  return ::fstat(fd, &opened) == 0 && ::stat(file.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

Status in_use(const fs::path& file) {
  return {Code::invalid,
          "another run is writing " + file.string() + ": wait for it, or give another file"};
}

}  // namespace

Result<UniqueFd> open_locked(const fs::path& file, Missing missing) {
  const int create = missing == Missing::create ? O_CREAT : 0;
  for (int i = 0; i < kMostTries; ++i) {
    UniqueFd fd(::open(file.c_str(), O_RDWR | create | O_APPEND | O_CLOEXEC, 0644));
    if (!fd && errno == ENOENT && missing == Missing::allow) return UniqueFd();
    if (!fd) return write_error(file);
    if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return in_use(file);
    if (is_still(fd.get(), file)) return fd;
  }
  return in_use(file);
}

Result<std::string> read_whole(int fd, const fs::path& file) {
  std::string text;
  std::array<char, 1 << 16> buffer;
  for (;;) {
    const ssize_t got = ::pread(fd, buffer.data(), buffer.size(), static_cast<off_t>(text.size()));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Status{Code::invalid, "cannot read " + file.string()};
    if (got == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

Result<UniqueFd> replace_locked(const fs::path& file, const fs::path& temporary,
                                std::string_view text) {
  constexpr int kFlags = O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC;
  UniqueFd fd(::open(temporary.c_str(), kFlags, 0644));
  if (!fd) return write_error(file);
  Status status;
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) status = in_use(temporary);
  if (status.ok()) status = write_durably(fd.get(), text, file);
  if (status.ok() && std::rename(temporary.c_str(), file.c_str()) != 0) status = write_error(file);
  if (status.ok()) {
    sync_directory_of(file);
    return fd;
  }
  ::unlink(temporary.c_str());
  return status;
}

}  // namespace kvroof
