// SPDX-License-Identifier: Apache-2.0
#include "transfer/keys/key_hash.h"

#include <sodium.h>
#include <xxhash.h>

#include <cassert>
#include <cstdlib>
#include <cstring>

namespace kvroof {
namespace {

Digest128 siphash(const HashSecret& secret, std::span<const std::byte> message) {
  static_assert(crypto_shorthash_siphashx24_BYTES == sizeof(Digest128));
  static_assert(crypto_shorthash_siphashx24_KEYBYTES == sizeof(HashSecret));
  std::array<unsigned char, sizeof(Digest128)> out;
  crypto_shorthash_siphashx24(out.data(), reinterpret_cast<const unsigned char*>(message.data()),
                              message.size(),
                              reinterpret_cast<const unsigned char*>(secret.data()));
  Digest128 digest;
  std::memcpy(&digest.low, out.data(), sizeof digest.low);
  std::memcpy(&digest.high, out.data() + sizeof digest.low, sizeof digest.high);
  return digest;
}

}  // namespace

HashSecret random_secret() {
  // Only a system without any source of randomness fails here, and then no secret is one.
  if (sodium_init() < 0) std::abort();
  HashSecret secret;
  randombytes_buf(secret.data(), secret.size());
  return secret;
}

HashSecret secret_of(std::string_view kept) {
  HashSecret secret;
  static_assert(sizeof secret >= crypto_generichash_BYTES_MIN);
  crypto_generichash(reinterpret_cast<unsigned char*>(secret.data()), secret.size(),
                     reinterpret_cast<const unsigned char*>(kept.data()), kept.size(), nullptr, 0);
  return secret;
}

std::string_view KeyHash::name() const {
  constexpr std::string_view kNames[] = {"xxh3", "siphash", "narrow"};
  return kNames[static_cast<std::size_t>(kind_)];
}

KeyHash KeyHash::narrow(std::uint32_t bits) {
  assert(bits >= 1 && bits <= 64);
  KeyHash hash;
  hash.kind_ = Kind::narrow;
  hash.mask_ = ~std::uint64_t{0} >> (64 - bits);
  return hash;
}

Digest128 KeyHash::operator()(std::span<const std::byte> message) const {
  if (kind_ == Kind::siphash) return siphash(secret_, message);
  const XXH128_hash_t hash = XXH3_128bits(message.data(), message.size());
  if (kind_ == Kind::narrow) return {hash.low64 & mask_, 0};
  return {hash.low64, hash.high64};
}

}  // namespace kvroof
