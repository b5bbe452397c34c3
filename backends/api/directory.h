// SPDX-License-Identifier: Apache-2.0
// Where the files of disk queues lie: a directory that is opened once, so that what becomes of its
// path later does not matter, and names that can't lead out of it.
#pragma once
#include <string>
#include <string_view>
#include <utility>

#include "backends/api/unique_fd.h"

namespace kvroof {

// Must outlive every ticket that names it.
class Directory {
 public:
  // Takes over a descriptor that was opened with O_DIRECTORY; `path` is for sentences alone.
  Directory(UniqueFd opened, std::string path) : fd_(std::move(opened)), path_(std::move(path)) {}

  int descriptor() const { return fd_.get(); }
  const std::string& path() const { return path_; }

 private:
  UniqueFd fd_;
  std::string path_;
};

// One name, or a sub-directory's and one in it: of a-z, 0-9, '-', '_' and '.', none of which starts
// with a dot. Nothing else is ever opened.
inline bool is_file_name(std::string_view name) {
  constexpr std::size_t kLongest = 200;  // of a part; file systems take 255 bytes
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789-_.";
  const auto fits = [&](std::string_view part) {
    return !part.empty() && part.size() <= kLongest && part.front() != '.' &&
           part.find_first_not_of(kLetters) == std::string_view::npos;
  };
  const std::size_t slash = name.find('/');
  if (slash == std::string_view::npos) return fits(name);
  return fits(name.substr(0, slash)) && fits(name.substr(slash + 1));
}

}  // namespace kvroof
