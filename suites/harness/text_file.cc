// SPDX-License-Identifier: Apache-2.0
#include "suites/harness/text_file.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace kvroof {

Result<std::string> read_text_file(const std::string& path, const std::string& what,
                                   std::uint64_t most_bytes) {
  std::error_code error;
  const bool regular = std::filesystem::is_regular_file(path, error);
  std::ifstream file;
  if (regular) file.open(path, std::ios::binary);
  if (!file.is_open()) {
    return Status{Code::invalid,
                  fmt::format("{}: can't be read as a regular file, expected {}", path, what)};
  }
  const auto size = std::filesystem::file_size(path, error);
  if (error || size > most_bytes) {
    return Status{Code::invalid, fmt::format("{}: {} bytes, expected {} of at most {}", path, size,
                                             what, most_bytes)};
  }
  return std::string(std::istreambuf_iterator<char>(file), {});
}

}  // namespace kvroof
