// SPDX-License-Identifier: Apache-2.0
// Writing so that what was written is on disk, and an error is one sentence with the file's name.
#pragma once
#include <filesystem>
#include <string_view>

#include "backends/api/status.h"

namespace kvroof {

// All of `text` to `fd` and to disk. `file` is for the sentence.
Status write_durably(int fd, std::string_view text, const std::filesystem::path& file);

// `file` anew with `text`, by a temporary file beside it and a rename: whoever looks sees the old
// contents or the new ones. On an error nothing is left behind.
Status replace_durably(const std::filesystem::path& file, std::string_view text);

// "cannot write FILE: No space left on device", from errno.
Status write_error(const std::filesystem::path& file);

}  // namespace kvroof
