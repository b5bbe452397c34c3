// SPDX-License-Identifier: Apache-2.0
// Names for files that are being written, which no other process has, and the removal of those that
// processes left behind when they ended.
#pragma once
#include <cstdint>
#include <string>

#include "backends/api/directory.h"
#include "backends/api/status.h"

namespace kvroof {

// A random word makes names unique, and a locked file named by it says that its owner lives: a
// process's number would not do, which others have in other containers, or later.
class TemporaryNames {
 public:
  // Removes what dead owners left, then takes a word of its own. `root` outlives it.
  static Result<TemporaryNames> open(const Directory& root);
  TemporaryNames(TemporaryNames&&) noexcept = default;
  TemporaryNames& operator=(TemporaryNames&&) = delete;
  ~TemporaryNames();  // gives the word back

  std::string next();  // "tmp/WORD-0.kv", "tmp/WORD-1.kv", ...

 private:
  TemporaryNames(const Directory& root, std::string word, UniqueFd lock)
      : root_(&root), word_(std::move(word)), lock_(std::move(lock)) {}

  const Directory* root_;
  std::string word_;
  UniqueFd lock_;
  std::uint64_t made_ = 0;
};

}  // namespace kvroof
