// SPDX-License-Identifier: Apache-2.0
// A file that one process at a time may write: locked from opening until the descriptor is closed,
// be it by the kernel when the process dies.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>

#include "backends/api/status.h"
#include "backends/api/unique_fd.h"

namespace kvroof {

enum class Missing : std::uint8_t {
  create,
  allow
};  // allow: no file gives a descriptor that is none

// For reading and appending, with what is in it untouched. `invalid` where another process has it.
Result<UniqueFd> open_locked(const std::filesystem::path& file, Missing missing);

Result<std::string> read_whole(int fd, const std::filesystem::path& file);

// `file`, locked by the caller, anew with `text`, by `temporary` and a rename. The descriptor that
// is returned had the lock before the rename; until then the old one keeps others out.
Result<UniqueFd> replace_locked(const std::filesystem::path& file,
                                const std::filesystem::path& temporary, std::string_view text);

}  // namespace kvroof
