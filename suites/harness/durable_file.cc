// SPDX-License-Identifier: Apache-2.0
#include "suites/harness/durable_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "backends/api/unique_fd.h"

namespace kvroof {
namespace {

namespace fs = std::filesystem;

Status write_temporary(const fs::path& temporary, std::string_view text, const fs::path& file) {
  const UniqueFd fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!fd) return write_error(file);
  return write_durably(fd.get(), text, file);
}

}  // namespace

Status write_error(const fs::path& file) {
  return {Code::invalid, "cannot write " + file.string() + ": " + std::strerror(errno)};
}

Status write_durably(int fd, std::string_view text, const fs::path& file) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return write_error(file);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return ::fdatasync(fd) == 0 ? Status{} : write_error(file);
}

void sync_directory_of(const fs::path& file) {
  const fs::path directory = file.has_parent_path() ? file.parent_path() : fs::path(".");
  const UniqueFd fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd) static_cast<void>(::fsync(fd.get()));
}

Status replace_durably(const fs::path& file, const fs::path& temporary, std::string_view text) {
  Status status = write_temporary(temporary, text, file);
  if (status.ok() && std::rename(temporary.c_str(), file.c_str()) != 0) status = write_error(file);
  if (!status.ok()) {
    ::unlink(temporary.c_str());
  } else {
    sync_directory_of(file);
  }
  return status;
}

}  // namespace kvroof
