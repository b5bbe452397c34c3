// SPDX-License-Identifier: Apache-2.0
// The directory that a disk tier's files lie in: opened, found fit, and laid out below.
#pragma once
#include <string>
#include <string_view>

#include "backends/api/directory.h"
#include "backends/api/status.h"

namespace kvroof {

inline constexpr std::string_view kTemporaries = "tmp";  // the sub-directory of unfinished files

// A directory that is empty (lost+found aside) or was opened so before: a file in it names the
// format. Sub-directories are made, for their owner alone. Anything else is refused and left as it
// is, in one sentence: missing, no directory, a symbolic link, in memory (tmpfs, ramfs), holding
// other files or another format, read-only, full.
Result<Directory> open_disk_root(const std::string& path);

// The sub-directories of chunks' files: 00 to ff.
std::string chunk_directory(unsigned number);

// Of a root or a sub-directory of one, without following links.
Result<UniqueFd> open_below(const Directory& root, const std::string& name);

}  // namespace kvroof
