// SPDX-License-Identifier: Apache-2.0
#include "transfer/disk/chunk_file.h"

#include <gtest/gtest.h>

#include <vector>

#include "backends/api/directory.h"

namespace kvroof {
namespace {

using Bytes = std::vector<std::byte>;

constexpr Digest128 kRecord{1, 2};
constexpr ChunkKey kKey{0x0123456789abcdef, 0xfedcba9876543210};
constexpr std::uint64_t kSum = 77;

Bytes some_data(std::size_t bytes) {
  Bytes data(bytes);
  for (std::size_t i = 0; i < bytes; ++i) data[i] = static_cast<std::byte>(i * 7);
  return data;
}

Bytes header_of(const Bytes& data) {
  Bytes header(kChunkHeaderBytes);
  write_chunk_header(kRecord, kKey, kSum, data, header);
  return header;
}

void flip(Bytes& bytes, std::size_t bit) { bytes[bit / 8] ^= static_cast<std::byte>(1 << bit % 8); }

TEST(ChunkFile, IsNamedByItsKey) {
  const std::string name = chunk_file_name(kKey);
  EXPECT_EQ(name, "01/0123456789abcdeffedcba9876543210.kv");
  EXPECT_TRUE(is_file_name(name));
  EXPECT_EQ(key_of_file(name.substr(3)), kKey);
  EXPECT_EQ(key_of_file(chunk_file_name({0, 1}).substr(3)), (ChunkKey{0, 1}));
}

TEST(ChunkFile, HasNoOtherName) {
  for (const char* const name :
       {"", "x.kv", "0123456789ABCDEFfedcba9876543210.kv", "0123456789abcdeffedcba9876543210",
        "0123456789abcdeffedcba987654321.kv", "0123456789abcdeffedcba98765432100.kv",
        "+123456789abcdeffedcba9876543210.kv", "0123456789abcdeffedcba9876543210.vk"}) {
    EXPECT_EQ(key_of_file(name), std::nullopt) << name;
  }
}

TEST(ChunkFile, AgreesWithItsHeader) {
  const Bytes data = some_data(10000);
  EXPECT_EQ(check_chunk(kRecord, kKey, header_of(data), data), ChunkFault::none);
  EXPECT_EQ(chunk_sum_of(header_of(data)), kSum);
}

TEST(ChunkFile, IsRefusedForAnyBitOfItsHeader) {
  const Bytes data = some_data(64);
  Bytes header = header_of(data);
  for (std::size_t bit = 0; bit < header.size() * 8; ++bit) {
    flip(header, bit);
    ASSERT_NE(check_chunk(kRecord, kKey, header, data), ChunkFault::none) << bit;
    flip(header, bit);
  }
}

TEST(ChunkFile, IsRefusedForAnyBitOfItsData) {
  Bytes data = some_data(1000);
  const Bytes header = header_of(data);
  for (std::size_t bit = 0; bit < data.size() * 8; ++bit) {
    flip(data, bit);
    ASSERT_EQ(check_chunk(kRecord, kKey, header, data), ChunkFault::data_checksum) << bit;
    flip(data, bit);
  }
}

TEST(ChunkFile, OfAnotherRecordKeyOrLengthIsToldApart) {
  const Bytes data = some_data(64), header = header_of(data);
  EXPECT_EQ(check_chunk({1, 3}, kKey, header, data), ChunkFault::other_record);
  EXPECT_EQ(check_chunk({0, 2}, kKey, header, data), ChunkFault::other_record);
  EXPECT_EQ(check_chunk(kRecord, {kKey.low, 0}, header, data), ChunkFault::other_key);
  EXPECT_EQ(check_chunk(kRecord, kKey, header, some_data(63)), ChunkFault::length);
  EXPECT_EQ(check_chunk(kRecord, kKey, Bytes(kChunkHeaderBytes), data), ChunkFault::not_a_header);
  EXPECT_EQ(check_chunk(kRecord, kKey, Bytes(100), data), ChunkFault::not_a_header);
}

}  // namespace
}  // namespace kvroof
