// SPDX-License-Identifier: Apache-2.0
// What lies in a disk tier's directory: names, chunks' files with their size and age, and removal.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backends/api/directory.h"
#include "backends/api/status.h"
#include "transfer/keys/chunk_key.h"

namespace kvroof {

struct ChunkFile {
  ChunkKey key;
  std::uint64_t bytes = 0;
  std::int64_t written = 0;  // in nanoseconds since the epoch, by the file system's clock
};

// Every name in a sub-directory (empty: the root itself) but "." and "..".
Result<std::vector<std::string>> entries(const Directory& root, const std::string& below);

// Empty where there is none: a chunk's file is a regular one of this user's, open to nobody else.
std::optional<ChunkFile> look_at_chunk(const Directory& root, const ChunkKey& key);

// All of them, the last written first.
Result<std::vector<ChunkFile>> chunk_files(const Directory& root);

// Where it can't, the file stays, and is found again at the next opening.
void remove_entry(const Directory& root, const std::string& name);

}  // namespace kvroof
