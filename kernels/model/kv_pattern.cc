// SPDX-License-Identifier: Apache-2.0
#include "kernels/model/kv_pattern.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace kvroof {
namespace {

// A vector's name takes 56 bits, scrambled one to one so that neighbours look nothing alike. They
// lie in 8 bytes whose bit 6 is clear: then no float is infinite or NaN, whatever its width.
constexpr std::uint32_t kBlockBits = 24, kLayerBits = 10, kHeadBits = 9, kTokenBits = 12;
constexpr std::uint32_t kNameBits = kBlockBits + kLayerBits + kHeadBits + kTokenBits + 1;
static_assert(kNameBits == 56);
constexpr std::uint64_t kNameMask = (std::uint64_t{1} << kNameBits) - 1;
constexpr std::uint64_t kFinite = 0xBFBFBFBFBFBFBFBF;
constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15;

// Of an odd factor modulo 2^64, and so modulo 2^56: Newton's iteration doubles the right bits.
constexpr std::uint64_t inverse(std::uint64_t odd) {
  std::uint64_t x = odd;
  for (int i = 0; i < 6; ++i) x *= 2 - odd * x;
  return x;
}

std::uint64_t scramble(std::uint64_t x) {
  for (int round = 0; round < 2; ++round) {
    x = x * kOdd & kNameMask;
    x ^= x >> (kNameBits / 2);  // its own inverse
  }
  return x;
}

std::uint64_t unscramble(std::uint64_t x) {
  for (int round = 0; round < 2; ++round) {
    x ^= x >> (kNameBits / 2);
    x = x * inverse(kOdd) & kNameMask;
  }
  return x;
}

std::uint64_t spread(std::uint64_t name) {
  std::uint64_t word = 0;
  for (int byte = 0; byte < 8; ++byte) {
    const std::uint64_t seven = name >> (7 * byte) & 0x7F;
    word |= ((seven & 0x3F) | (seven & 0x40) << 1) << (8 * byte);
  }
  return word;
}

std::uint64_t gather(std::uint64_t word) {
  std::uint64_t name = 0;
  for (int byte = 0; byte < 8; ++byte) {
    const std::uint64_t bits = word >> (8 * byte);
    name |= ((bits & 0x3F) | (bits >> 1 & 0x40)) << (7 * byte);
  }
  return name;
}

// Complemented, so that zeros name a vector that no cache has.
std::uint64_t pack(const KvVector& v) {
  std::uint64_t name = v.block;
  name = name << kLayerBits | v.layer;
  name = name << kHeadBits | v.head;
  name = name << kTokenBits | v.token;
  return ~(name << 1 | (v.value ? 1 : 0)) & kNameMask;
}

KvVector unpack(std::uint64_t packed) {
  std::uint64_t name = ~packed & kNameMask;
  const auto take = [&](std::uint32_t bits) {
    const auto part = static_cast<std::uint32_t>(name & ((std::uint64_t{1} << bits) - 1));
    name >>= bits;
    return part;
  };
  KvVector v;
  v.value = take(1) == 1;
  v.token = take(kTokenBits);
  v.head = take(kHeadBits);
  v.layer = take(kLayerBits);
  v.block = take(kBlockBits);
  return v;
}

std::uint64_t first_word(const KvVector& vector) { return spread(scramble(pack(vector))); }

// What stands at a place behind the first word.
std::uint64_t word_at(std::uint64_t first, std::uint64_t place) {
  const std::uint64_t word = (first + place) * kOdd;
  return (word ^ word >> 29) & kFinite;
}

// The first word is `first`; those behind it follow from it and their place.
void fill(std::uint64_t first, std::span<std::byte> bytes) {
  std::uint64_t word = first;
  for (std::size_t at = 0; at < bytes.size(); at += sizeof word) {
    std::memcpy(&bytes[at], &word, std::min(sizeof word, bytes.size() - at));
    word = word_at(first, at + 1);
  }
}

// A scale is filled as words at a place that no vector reaches.
constexpr std::uint64_t kScalePlace = std::uint64_t{1} << 40;

std::uint64_t scale_word(const KvVector& vector) {
  return word_at(first_word(vector), kScalePlace);
}

// Where a vector and its scale lie in a copy of the block.
struct Place {
  std::uint64_t vector, scale;
};

// Calls visit(vector, its place). A copy of a block is a cache of one block.
template <class Visit>
void for_each_vector(const KvLayout& kv, const PatternName& name, Visit visit) {
  KvLayout one = kv;
  one.blocks = 1;
  for (std::uint32_t layer = 0; layer < kv.layers; ++layer) {
    const PagedKv at = one.paged(layer);
    for (std::uint32_t plane = 0; plane < kv.planes; ++plane) {
      for (std::uint32_t token = 0; token < kv.block_tokens; ++token) {
        for (std::uint32_t head = 0; head < kv.kv_heads; ++head) {
          const bool v = plane == 1;
          visit(KvVector{name.block, name.first_layer + layer, head, token, v},
                Place{(v ? at.v_offset : at.k_offset) + token * at.token_stride +
                          head * at.head_stride,
                      (v ? at.v_scale_offset : at.k_scale_offset) + token * at.scale_token_stride +
                          head * at.scale_head_stride});
        }
      }
    }
  }
}

Status check_sizes(const KvLayout& kv, const PatternName& name, std::size_t bytes) {
  if (bytes != kv.block_bytes()) {
    return {Code::invalid, "A copy of a block must have " + std::to_string(kv.block_bytes()) +
                               " bytes, not " + std::to_string(bytes) + "."};
  }
  if (name.block >> kBlockBits || std::uint64_t{name.first_layer} + kv.layers > 1u << kLayerBits ||
      kv.kv_heads > 1u << kHeadBits || kv.block_tokens > 1u << kTokenBits) {
    return {Code::invalid,
            "A pattern has room for 2^24 blocks, 1024 layers, 512 KV heads and 4096 tokens a "
            "block: use a smaller layout."};
  }
  return {};
}

std::string first_difference(const KvLayout& kv, const PatternName& name,
                             std::span<const std::byte> copy, std::span<const std::byte> expected) {
  const auto differ = [&](std::uint64_t offset, std::uint64_t bytes) {
    return !std::ranges::equal(copy.subspan(offset, bytes), expected.subspan(offset, bytes));
  };
  std::string text;
  for_each_vector(kv, name, [&](const KvVector& vector, const Place& place) {
    if (!text.empty()) return;
    if (differ(place.vector, kv.vector_bytes())) {
      const auto other = read_pattern(copy.subspan(place.vector, kv.vector_bytes()));
      text = "The place of " + to_text(vector) + " holds " +
             (other ? to_text(*other) : "bytes of no vector") + ".";
    } else if (differ(place.scale, scale_bytes_of(kv.dtype))) {
      text = "The scale of " + to_text(vector) + " is not its own.";
    }
  });
  if (!text.empty()) return text;
  const auto at = std::ranges::mismatch(copy, expected).in1 - copy.begin();
  return "Byte " + std::to_string(at) + " of block " + std::to_string(name.block) +
         "'s copy, which lies between vectors, is not its own.";
}

}  // namespace

std::string to_text(const KvVector& v) {
  return std::string(v.value ? "V" : "K") + " of token " + std::to_string(v.token) + ", head " +
         std::to_string(v.head) + ", layer " + std::to_string(v.layer) + ", block " +
         std::to_string(v.block);
}

Status write_pattern(const KvLayout& kv, const PatternName& name, std::span<std::byte> copy) {
  if (Status status = check_sizes(kv, name, copy.size()); !status.ok()) return status;
  fill(first_word({.block = name.block, .layer = name.first_layer}), copy);
  for_each_vector(kv, name, [&](const KvVector& vector, const Place& place) {
    fill(first_word(vector), copy.subspan(place.vector, kv.vector_bytes()));
    fill(scale_word(vector), copy.subspan(place.scale, scale_bytes_of(kv.dtype)));
  });
  return {};
}

Status check_pattern(const KvLayout& kv, const PatternName& name, std::span<const std::byte> copy) {
  std::vector<std::byte> expected(copy.size());
  if (Status status = write_pattern(kv, name, expected); !status.ok()) return status;
  if (std::memcmp(copy.data(), expected.data(), copy.size()) == 0) return {};
  return {Code::failed, first_difference(kv, name, copy, expected)};
}

std::optional<KvVector> read_pattern(std::span<const std::byte> vector) {
  std::uint64_t word = 0;
  if (vector.size() < sizeof word) return std::nullopt;
  std::memcpy(&word, vector.data(), sizeof word);
  if ((word & ~kFinite) != 0) return std::nullopt;
  std::vector<std::byte> whole(vector.size());
  fill(word, whole);
  if (!std::ranges::equal(whole, vector)) return std::nullopt;
  return unpack(unscramble(gather(word)));
}

}  // namespace kvroof
