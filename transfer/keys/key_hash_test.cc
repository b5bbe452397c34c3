// SPDX-License-Identifier: Apache-2.0
#include "transfer/keys/key_hash.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string_view>
#include <vector>

#include "transfer/keys/chunk_key.h"

namespace kvroof {
namespace {

std::vector<std::byte> bytes_of_text(std::string_view text) {
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

std::vector<std::byte> count_up(std::size_t count) {
  std::vector<std::byte> bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(i);
  return bytes;
}

HashSecret counting_secret() {
  HashSecret secret;
  for (std::size_t i = 0; i < secret.size(); ++i) secret[i] = static_cast<std::byte>(i);
  return secret;
}

Digest128 from_bytes(const std::array<unsigned char, 16>& bytes) {
  Digest128 digest;
  std::memcpy(&digest.low, bytes.data(), 8);
  std::memcpy(&digest.high, bytes.data() + 8, 8);
  return digest;
}

// SipHash's authors publish, with their reference code, the hashes of 0, 1, 2, ... bytes that count
// up, under a key that does too (vectors_sip128): the first and the second.
TEST(KeyHash, KeyedIsSipHash24Of128Bits) {
  const KeyHash hash(counting_secret());
  EXPECT_EQ(hash(count_up(0)), from_bytes({0xa3, 0x81, 0x7f, 0x04, 0xba, 0x25, 0xa8, 0xe6, 0x6d,
                                           0xf6, 0x72, 0x14, 0xc7, 0x55, 0x02, 0x93}));
  EXPECT_EQ(hash(count_up(1)), from_bytes({0xda, 0x87, 0xc1, 0xd8, 0x6b, 0x99, 0xaf, 0x44, 0x34,
                                           0x76, 0x59, 0x11, 0x9b, 0x22, 0xfc, 0x45}));
}

TEST(KeyHash, EveryByteOfTheSecretMatters) {
  const auto message = bytes_of_text("message");
  std::set<Digest128> seen{KeyHash(HashSecret{})(message)};
  for (std::size_t i = 0; i < 16; ++i) {
    HashSecret secret{};
    secret[i] = std::byte{1};
    EXPECT_TRUE(seen.insert(KeyHash(secret)(message)).second) << i;
  }
}

TEST(KeyHash, SecretsAreDrawnAnew) { EXPECT_NE(random_secret(), random_secret()); }

// Two prefixes with one key under the fast hash have two under a secret: what an attacker makes
// from the one says nothing about the other. Narrow to 8 bits, so that the test finds one.
TEST(KeyHash, ACollisionOfTheFastHashIsNoneOfTheKeyed) {
  const KeyHash narrow = KeyHash::narrow(8), keyed(random_secret());
  std::size_t collisions = 0;
  for (std::int32_t token = 1; token < 2000; ++token) {
    const std::vector<std::int32_t> one{0, 0, 0, 0}, other{token, 0, 0, 0};
    if (chunk_keys({}, one, 4, narrow) != chunk_keys({}, other, 4, narrow)) continue;
    ++collisions;
    EXPECT_NE(chunk_keys({}, one, 4, keyed), chunk_keys({}, other, 4, keyed)) << token;
  }
  EXPECT_GT(collisions, 0u);
}

TEST(KeyHash, NarrowKeepsTheLowBits) {
  const auto message = bytes_of_text("message");
  const Digest128 whole = KeyHash()(message);
  EXPECT_EQ(KeyHash::narrow(8)(message), (Digest128{whole.low & 0xff, 0}));
  EXPECT_EQ(KeyHash::narrow(64)(message), (Digest128{whole.low, 0}));
}

TEST(KeyHash, ASecretIsMadeOfAllThatIsKept) {
  const std::string kept(100, 'k');
  EXPECT_EQ(secret_of(kept), secret_of(kept));
  for (std::size_t i = 0; i < kept.size(); ++i) {
    std::string other = kept;
    other[i] = 'K';
    EXPECT_NE(secret_of(kept), secret_of(other)) << i;
  }
  EXPECT_NE(secret_of(kept), secret_of(kept + 'k'));
  EXPECT_EQ(KeyHash(secret_of(kept)).name(), "siphash");
  EXPECT_EQ(KeyHash().name(), "xxh3");
}

// The same chain, whatever the hash: of the previous key's 16 bytes and then the token ids.
TEST(KeyHash, ChainsAsTheFastOneDoes) {
  const KeyHash hash(counting_secret());
  const std::vector<std::int32_t> tokens{1, 2, 3, 4};
  Digest128 previous = digest({}, hash);
  std::vector<ChunkKey> expected;
  for (std::size_t chunk = 0; chunk < 2; ++chunk) {
    std::array<std::byte, 24> message;
    std::memcpy(message.data(), &previous.low, 8);
    std::memcpy(message.data() + 8, &previous.high, 8);
    std::memcpy(message.data() + 16, &tokens[chunk * 2], 8);
    previous = hash(message);
    expected.push_back({previous.low, previous.high});
  }
  EXPECT_EQ(chunk_keys({}, tokens, 2, hash), expected);
}

}  // namespace
}  // namespace kvroof
