// SPDX-License-Identifier: Apache-2.0
// Contents of a paged cache in which every vector says what it is, so that a copy which puts
// anything anywhere else is noticed, and named.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "backends/api/status.h"
#include "kernels/model/kv_layout.h"

namespace kvroof {

// head_dim elements of K, or of V, of one token and head; and the scale of a quantised one.
struct KvVector {
  std::uint32_t block = 0, layer = 0, head = 0, token = 0;
  bool value = false;  // V
  bool operator==(const KvVector&) const = default;
};

// "K of token 3, head 1, layer 0, block 7"
std::string to_text(const KvVector& vector);

// Which number a block's contents go by (below 2^24, and the caller's choice: the same ones may
// move to another block), and which of a model's layers is the layout's first (1024 in all).
struct PatternName {
  std::uint32_t block = 0, first_layer = 0;
};

// Fills `copy`, which holds one block as a host chunk does: its regions in index order,
// block_bytes() in all. Vectors of 8 bytes or more differ from each other for certain, shorter ones
// and scales as a hash of their length does; what lies between vectors is filled too. Values are
// finite in every dtype. `invalid` where the size is another, or a number has no room.
Status write_pattern(const KvLayout& kv, const PatternName& name, std::span<std::byte> copy);

// `failed` where `copy` is not what write_pattern makes: the sentence names the first vector that
// is wrong, or whose scale is, and the one that lies in its place, if any does.
Status check_pattern(const KvLayout& kv, const PatternName& name, std::span<const std::byte> copy);

// What a vector's bytes, of 8 or more, say that it is; empty where they are no pattern's.
std::optional<KvVector> read_pattern(std::span<const std::byte> vector);

}  // namespace kvroof
