// SPDX-License-Identifier: Apache-2.0
// Writing so that what was written is on disk, and an error is one sentence with the file's name.
#pragma once
#include <filesystem>
#include <string_view>

#include "backends/api/status.h"

namespace kvroof {

// All of `text` to `fd` and to disk. `file` is for the sentence.
Status write_durably(int fd, std::string_view text, const std::filesystem::path& file);

// `file` anew with `text`, written to `temporary` (in the same directory, and the caller's alone)
// and renamed: whoever looks sees the old contents or the new ones. On an error nothing is left
// behind.
Status replace_durably(const std::filesystem::path& file, const std::filesystem::path& temporary,
                       std::string_view text);

// Makes the rename of a file to `file` last. File systems that cannot sync a directory still
// rename.
void sync_directory_of(const std::filesystem::path& file);

// "cannot write FILE: No space left on device", from errno.
Status write_error(const std::filesystem::path& file);

}  // namespace kvroof
