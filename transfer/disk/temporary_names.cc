// SPDX-License-Identifier: Apache-2.0
#include "transfer/disk/temporary_names.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "backends/os/errors.h"
#include "transfer/disk/disk_root.h"
#include "transfer/disk/entries.h"
#include "transfer/keys/key_hash.h"

namespace kvroof {
namespace {

constexpr std::size_t kWordDigits = 32;

std::string random_word() {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string word;
  for (const std::byte byte : random_secret()) {
    word += kHex[std::to_integer<unsigned>(byte) >> 4];
    word += kHex[std::to_integer<unsigned>(byte) & 15];
  }
  return word;
}

std::string in_temporaries(const std::string& name) {
  return std::string(kTemporaries) + "/" + name;
}
std::string lock_of(const std::string& word) { return in_temporaries(word + ".lock"); }

// WORD-NUMBER.kv or WORD.lock; empty for what others put there.
std::string word_of(const std::string& name) {
  const std::string word = name.substr(0, kWordDigits);
  const std::string_view rest = std::string_view(name).substr(word.size());
  const bool hex =
      word.size() == kWordDigits && word.find_first_not_of("0123456789abcdef") == std::string::npos;
  const bool ours = rest == ".lock" || (rest.starts_with("-") && rest.ends_with(".kv"));
  return hex && ours ? word : "";
}

UniqueFd lock(const Directory& root, const std::string& word, int create) {
  const std::string name = lock_of(word);
  UniqueFd fd(
      ::openat(root.descriptor(), name.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC | create, 0600));
  if (fd && ::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) return UniqueFd();
  return fd;
}

// Nobody holds its lock, or it has none: a lock is made first and removed last.
bool is_dead(const Directory& root, const std::string& word, UniqueFd& held) {
  held = lock(root, word, 0);
  return held || errno == ENOENT;
}

Status remove_what_the_dead_left(const Directory& root) {
  auto names = entries(root, std::string(kTemporaries));
  if (!names) return names.status();
  // An owner's files before its lock: '-' sorts before '.'.
  std::ranges::sort(*names);
  std::string word;
  bool dead = false;
  UniqueFd held;
  for (const std::string& name : *names) {
    const std::string owner = word_of(name);
    if (owner.empty()) continue;
    if (owner != word) dead = is_dead(root, owner, held);
    word = owner;
    if (dead) remove_entry(root, in_temporaries(name));
  }
  return {};
}

}  // namespace

Result<TemporaryNames> TemporaryNames::open(const Directory& root) {
  if (Status status = remove_what_the_dead_left(root); !status.ok()) return status;
  // Another that cleans up may take the lock before its maker does, and remove it: once more, then.
  constexpr int kTries = 16;
  for (int i = 0; i < kTries; ++i) {
    const std::string word = random_word();
    UniqueFd held = lock(root, word, O_CREAT | O_EXCL);
    if (!held && errno != EWOULDBLOCK) break;
    struct stat facts {};
    if (held && ::fstat(held.get(), &facts) == 0 && facts.st_nlink > 0) {
      return TemporaryNames(root, word, std::move(held));
    }
  }
  Status status = os::from_errno(
      errno, "The disk tier can't lock a file in " + root.path() + "/" + std::string(kTemporaries));
  status.code = Code::failed;
  return status;
}

TemporaryNames::~TemporaryNames() {
  if (lock_) remove_entry(*root_, lock_of(word_));
}

std::string TemporaryNames::next() {
  return in_temporaries(word_ + "-" + std::to_string(made_++) + ".kv");
}

}  // namespace kvroof
