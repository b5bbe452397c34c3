// SPDX-License-Identifier: Apache-2.0
// A chunk as a file: a header that says what the data must be, then the data. Files are written
// without a sync, so whatever is read must agree with its header before it is used.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "transfer/keys/chunk_key.h"

namespace kvroof {

inline constexpr std::uint64_t kChunkHeaderBytes = 4096;  // so that the data lies at a page

// "5f/5f....kv", 32 hexadecimal digits of the key below the first two: 256 sub-directories.
std::string chunk_file_name(const ChunkKey& key);

// Of the name without its sub-directory; empty where no chunk's file is called so.
std::optional<ChunkKey> key_of_file(std::string_view name);

// Into the kChunkHeaderBytes of `header`: the format, the record's digest, the key, the data's
// length and XXH3_64, the chunk's own sum (0: it has none), and over all of it a checksum of its
// own. The data's XXH3_64 is of what was written, the chunk's sum of what was stored.
void write_chunk_header(const Digest128& record, const ChunkKey& key, std::uint64_t chunk_sum,
                        std::span<const std::byte> data, std::span<std::byte> header);

// The first that disagrees. `other_record` and `other_key` are of whole files that are not the one
// looked for; what comes before and after them are torn or spoilt ones.
enum class ChunkFault : std::uint8_t {
  none,
  not_a_header,
  header_checksum,
  other_format,
  other_record,
  other_key,
  length,
  data_checksum,
};

ChunkFault check_chunk(const Digest128& record, const ChunkKey& key,
                       std::span<const std::byte> header, std::span<const std::byte> data);

// Of a header that check_chunk finds nothing wrong with.
std::uint64_t chunk_sum_of(std::span<const std::byte> header);

// Half a sentence: "its data do not have the checksum that its header says".
std::string_view describe(ChunkFault fault);

}  // namespace kvroof
