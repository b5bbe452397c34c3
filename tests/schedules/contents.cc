// SPDX-License-Identifier: Apache-2.0
#include "tests/schedules/contents.h"

namespace kvroof::schedules {
namespace {

std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

constexpr std::uint64_t kNarrow = 7;  // as many keys

}  // namespace

std::uint8_t byte_of(const Piece& piece, std::uint32_t region) {
  const std::uint64_t place =
      (std::uint64_t{piece.conversation} << 40) | (std::uint64_t{piece.block} << 20) | region;
  return static_cast<std::uint8_t>(mix(place + 1));
}

Conversation::Conversation(std::uint32_t number, std::uint32_t chunks, std::uint32_t chunk_tokens,
                           bool narrow) {
  for (std::uint64_t chunk = 0; chunk < chunks; ++chunk) {
    const std::uint64_t place = mix((std::uint64_t{number} << 32) | (chunk + 1));
    const std::uint64_t key = narrow ? place % kNarrow : place;
    keys.push_back({key * 0x9e3779b97f4a7c15, key});
    ids.insert(ids.end(), chunk_tokens, static_cast<std::int32_t>(number * 100 + chunk));
    prefixes.push_back({{place, mix(place)}});
  }
}

}  // namespace kvroof::schedules
