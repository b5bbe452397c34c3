// SPDX-License-Identifier: Apache-2.0
// The hash that chunks' keys chain by: the fast one, or one with a secret, where some of those who
// choose tokens are not to be trusted.
#pragma once
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace kvroof {

struct Digest128 {
  std::uint64_t low = 0, high = 0;
  auto operator<=>(const Digest128&) const = default;
};

using HashSecret = std::array<std::byte, 16>;

// From the operating system's source of randomness.
HashSecret random_secret();

// From what a tenant keeps to itself, of any length: BLAKE2b of 128 bits.
HashSecret secret_of(std::string_view kept);

class KeyHash {
 public:
  // XXH3_128. Not cryptographic: whoever chooses tokens can make two prefixes with one key. A seed
  // or a secret of its own would not change that, so it takes none.
  KeyHash() = default;

  // SipHash-2-4 of 128 bits, a pseudorandom function (Aumasson and Bernstein, 2012): without the
  // secret a key can be neither foreseen nor met but by chance. Processes that share a tier's files
  // share the secret.
  explicit KeyHash(const HashSecret& secret) : kind_(Kind::siphash), secret_(secret) {}

  // The fast one cut to its low `bits` (1 to 64), so that keys collide: for checks that a collision
  // is never served.
  static KeyHash narrow(std::uint32_t bits);

  Digest128 operator()(std::span<const std::byte> message) const;

  std::string_view name() const;  // "xxh3", "siphash", "narrow": all that may be told of it
  bool operator==(const KeyHash&) const = default;

 private:
  enum class Kind : std::uint8_t { xxh3, siphash, narrow };
  Kind kind_ = Kind::xxh3;
  HashSecret secret_{};
  std::uint64_t mask_ = 0;  // of `narrow`
};

}  // namespace kvroof
