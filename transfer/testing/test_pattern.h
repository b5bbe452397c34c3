// SPDX-License-Identifier: Apache-2.0
// Contents of a cache of 4-byte elements in which every element is known by its value.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "transfer/lanes/planner.h"

namespace kvroof {

// Each element holds (block << 16 | its place in the block).
std::vector<std::byte> pattern(const KvLayout& kv);

// How many elements of `block` in `bytes`, a whole cache, are not those of `original`.
std::uint32_t mismatches(const KvLayout& kv, const std::vector<std::byte>& bytes, BlockId block,
                         BlockId original);

}  // namespace kvroof
