// SPDX-License-Identifier: Apache-2.0
#include "backends/disk/open_file.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "backends/os/errors.h"

namespace kvroof::disk {
namespace {

constexpr mode_t kOwnersAlone = 0600;
constexpr const char* kUnaligned = "a piece or its length is no multiple of 4096 bytes";
constexpr const char* kRefused = "the file system refuses O_DIRECT";

bool aligned(const FileJob& job) {
  return std::ranges::all_of(job.pieces, [](const Piece& piece) {
    const auto address = reinterpret_cast<std::uintptr_t>(piece.data);
    return (address | piece.bytes) % kDirectAlignment == 0;
  });
}

// openat2 lets no sub-directory that has become a link lead out; where it is not to be had, names
// that were checked and O_NOFOLLOW remain. Returns a descriptor, or -1 and errno.
int open_beneath(int directory, const std::string& name, int flags, mode_t mode) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags | O_NOFOLLOW | O_CLOEXEC);
  how.mode = mode;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS;
  const auto fd = syscall(SYS_openat2, directory, name.c_str(), &how, sizeof how);
  if (fd >= 0 || (errno != ENOSYS && errno != EPERM)) return static_cast<int>(fd);
  return ::openat(directory, name.c_str(), flags | O_NOFOLLOW | O_CLOEXEC, mode);
}

Status ends_early(const FileJob& job) {
  return {Code::failed, (job.act == FileJob::Act::read ? "reading " : "writing ") + job.path() +
                            ": it ends before the " + std::to_string(job.bytes()) +
                            " bytes that were asked for"};
}

}  // namespace

Status failure(const FileJob& job, int error) {
  constexpr const char* kDoing[] = {"reading ", "writing ", "removing "};
  Status status = os::from_errno(error, kDoing[static_cast<std::size_t>(job.act)] + job.path());
  status.code = Code::failed;  // it ran, whatever the system's reason
  return status;
}

Result<OpenFile> OpenFile::open(const FileJob& job) {
  OpenFile file(job);
  if (!aligned(job)) file.buffered_ = kUnaligned;
  Status status = file.open();
  if (status.ok()) status = job.act == FileJob::Act::write ? file.reserve() : file.look();
  if (!status.ok()) return status;
  return file;
}

OpenFile::OpenFile(OpenFile&& other) noexcept
    : job_(other.job_),
      fd_(std::move(other.fd_)),
      buffered_(std::move(other.buffered_)),
      temporary_(std::exchange(other.temporary_, false)) {}

OpenFile::~OpenFile() {
  if (temporary_) ::unlinkat(job_->directory->descriptor(), job_->temporary.c_str(), 0);
}

Status OpenFile::open() {
  const bool writes = job_->act == FileJob::Act::write;
  const std::string& name = writes ? job_->temporary : job_->name;
  const int directory = job_->directory->descriptor();
  const int flags = writes ? O_WRONLY | O_CREAT | O_EXCL : O_RDONLY | O_NONBLOCK;
  const mode_t mode = writes ? kOwnersAlone : 0;
  int fd = open_beneath(directory, name, flags | (direct() ? O_DIRECT : 0), mode);
  if (fd < 0 && errno == EINVAL && direct()) {
    buffered_ = kRefused;
    if (writes) ::unlinkat(directory, name.c_str(), 0);  // some create it before they refuse
    fd = open_beneath(directory, name, flags, mode);
  }
  if (fd < 0) return failure(*job_, errno);
  fd_ = UniqueFd(fd);
  temporary_ = writes;
  return {};
}

// What is too short is not read at all. A pipe, which opened without blocking, is no file.
Status OpenFile::look() const {
  struct stat facts {};
  if (::fstat(descriptor(), &facts) != 0) return failure(*job_, errno);
  if (!S_ISREG(facts.st_mode)) {
    return {Code::failed, "reading " + job_->path() + ": it is no regular file"};
  }
  if (static_cast<std::uint64_t>(facts.st_size) < job_->bytes()) return ends_early(*job_);
  if (::fcntl(descriptor(), F_SETFL, direct() ? O_DIRECT : 0) != 0) return failure(*job_, errno);
  return {};
}

// One extent, and a full disk is found before anything is written.
Status OpenFile::reserve() const {
  const auto bytes = static_cast<off_t>(job_->bytes());
  if (bytes == 0 || ::fallocate(descriptor(), 0, 0, bytes) == 0) return {};
  if (errno == EOPNOTSUPP || errno == ENOSYS || errno == EINTR) return {};
  return failure(*job_, errno);
}

void OpenFile::go_buffered(std::string why) {
  const int flags = ::fcntl(descriptor(), F_GETFL);
  (void)::fcntl(descriptor(), F_SETFL, flags & ~O_DIRECT);
  buffered_ = std::move(why);
}

Status OpenFile::move_rest(const Piece& piece, std::uint64_t done) {
  while (done < piece.bytes) {
    std::byte* const at = piece.data + done;
    const std::uint64_t bytes = piece.bytes - done;
    const auto offset = static_cast<off_t>(piece.offset + done);
    const bool reads = job_->act == FileJob::Act::read;
    const ssize_t moved = reads ? ::pread(descriptor(), at, bytes, offset)
                                : ::pwrite(descriptor(), at, bytes, offset);
    if (moved > 0) {
      done += static_cast<std::uint64_t>(moved);
    } else if (moved == 0) {
      return ends_early(*job_);
    } else if (errno == EINVAL && direct()) {
      go_buffered("the file system wants another alignment");
    } else if (errno != EINTR) {
      return failure(*job_, errno);
    }
  }
  return {};
}

Status OpenFile::finish() {
  if (!temporary_) return {};
  const int directory = job_->directory->descriptor();
  fd_ = UniqueFd();
  if (::renameat(directory, job_->temporary.c_str(), directory, job_->name.c_str()) != 0) {
    return failure(*job_, errno);
  }
  temporary_ = false;
  return {};
}

Status remove(const FileJob& job) {
  if (::unlinkat(job.directory->descriptor(), job.name.c_str(), 0) == 0) return {};
  return errno == ENOENT ? Status{} : failure(job, errno);
}

void count(const OpenFile& file, DiskFacts& facts) {
  ++(file.direct() ? facts.direct_files : facts.buffered_files);
  if (!file.direct()) facts.buffered = file.why_buffered();
}

Status run(const FileJob& job, DiskFacts& facts) {
  if (job.act == FileJob::Act::remove) return remove(job);
  Result<OpenFile> file = OpenFile::open(job);
  if (!file) return file.status();
  Status status;
  for (const Piece& piece : job.pieces) {
    if (status.ok()) status = file->move_rest(piece, 0);
  }
  count(*file, facts);
  return status.ok() ? file->finish() : status;
}

}  // namespace kvroof::disk
