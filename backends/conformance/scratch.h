// SPDX-License-Identifier: Apache-2.0
// Tests only: an empty directory for files, below the current one (a build folder, and so on a disk
// rather than in memory), for as long as its owner lives.
#pragma once
#include <fcntl.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "backends/api/directory.h"

namespace kvroof::conformance {

class Scratch {
 public:
  Scratch() : path_(make()), directory(open(path_), path_.string()) {}
  ~Scratch() { std::filesystem::remove_all(path_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

  bool has(const std::string& name) const {
    return std::filesystem::exists(std::filesystem::symlink_status(path_ / name));
  }
  std::string contents(const std::string& name) const {
    std::ifstream stream(path_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  void put(const std::string& name, const std::string& contents) const {
    std::ofstream(path_ / name, std::ios::binary) << contents;
  }

 private:
  static std::filesystem::path make() {
    std::string name = (std::filesystem::current_path() / "scratch-XXXXXX").string();
    return ::mkdtemp(name.data());
  }
  static UniqueFd open(const std::filesystem::path& path) {
    return UniqueFd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }

  const std::filesystem::path path_;

 public:
  const Directory directory;
};

}  // namespace kvroof::conformance
