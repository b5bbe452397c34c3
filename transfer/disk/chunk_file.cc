// SPDX-License-Identifier: Apache-2.0
#include "transfer/disk/chunk_file.h"

#include <xxhash.h>

#include <array>
#include <bit>
#include <cassert>
#include <charconv>
#include <cstring>

namespace kvroof {
namespace {

constexpr std::uint32_t kFormat = 2;
constexpr std::size_t kDigits = 16;  // of each half of a key
constexpr std::string_view kEnding = ".kv";

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

struct Header {
  std::array<char, 8> magic{'k', 'v', 'r', 'o', 'o', 'f', 'K', 'V'};
  std::uint32_t format = kFormat, header_bytes = kChunkHeaderBytes;
  Digest128 record;
  ChunkKey key;
  std::uint64_t data_bytes = 0, data_checksum = 0, chunk_sum = 0;
  std::array<std::byte, kChunkHeaderBytes - 80> zeros{};
  std::uint64_t checksum = 0;  // of everything before it
};
static_assert(sizeof(Header) == kChunkHeaderBytes);

std::uint64_t checksum_of(const Header& header) {
  return XXH3_64bits(&header, offsetof(Header, checksum));
}

void append_hex(std::string& text, std::uint64_t value) {
  constexpr std::string_view kHex = "0123456789abcdef";
  for (int shift = 60; shift >= 0; shift -= 4) text += kHex[value >> shift & 15];
}

// Lower case and of full width alone, so that a key has one name.
std::optional<std::uint64_t> from_hex(std::string_view digits) {
  if (digits.find_first_not_of("0123456789abcdef") != std::string_view::npos) return {};
  std::uint64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  return value;
}

}  // namespace

std::string chunk_file_name(const ChunkKey& key) {
  std::string name;
  append_hex(name, key.low);
  append_hex(name, key.high);
  return name.substr(0, 2) + "/" + name + std::string(kEnding);
}

std::optional<ChunkKey> key_of_file(std::string_view name) {
  if (name.size() != 2 * kDigits + kEnding.size() || !name.ends_with(kEnding)) return {};
  const auto low = from_hex(name.substr(0, kDigits)),
             high = from_hex(name.substr(kDigits, kDigits));
  if (!low || !high) return {};
  return ChunkKey{*low, *high};
}

void write_chunk_header(const Digest128& record, const ChunkKey& key, std::uint64_t chunk_sum,
                        std::span<const std::byte> data, std::span<std::byte> header) {
  assert(header.size() == kChunkHeaderBytes);
  Header made;
  made.record = record;
  made.key = key;
  made.data_bytes = data.size();
  made.data_checksum = XXH3_64bits(data.data(), data.size());
  made.chunk_sum = chunk_sum;
  made.checksum = checksum_of(made);
  std::memcpy(header.data(), &made, sizeof made);
}

ChunkFault check_chunk(const Digest128& record, const ChunkKey& key,
                       std::span<const std::byte> header, std::span<const std::byte> data) {
  Header read;
  if (header.size() != sizeof read) return ChunkFault::not_a_header;
  std::memcpy(&read, header.data(), sizeof read);
  if (read.magic != Header().magic) return ChunkFault::not_a_header;
  if (read.checksum != checksum_of(read)) return ChunkFault::header_checksum;
  if (read.format != kFormat || read.header_bytes != kChunkHeaderBytes) {
    return ChunkFault::other_format;
  }
  if (read.record != record) return ChunkFault::other_record;
  if (read.key != key) return ChunkFault::other_key;
  if (read.data_bytes != data.size()) return ChunkFault::length;
  if (read.data_checksum != XXH3_64bits(data.data(), data.size())) return ChunkFault::data_checksum;
  return ChunkFault::none;
}

std::uint64_t chunk_sum_of(std::span<const std::byte> header) {
  Header read;
  assert(header.size() == sizeof read);
  std::memcpy(&read, header.data(), sizeof read);
  return read.chunk_sum;
}

std::string_view describe(ChunkFault fault) {
  constexpr std::string_view kWords[] = {
      "nothing is wrong with it",
      "it does not begin with a chunk's header",
      "its header does not have its own checksum",
      "its header is of another format",
      "it was computed under another compatibility record",
      "it holds another key's chunk",
      "its data are of another length than its header says",
      "its data do not have the checksum that its header says",
  };
  return kWords[static_cast<std::size_t>(fault)];
}

}  // namespace kvroof
