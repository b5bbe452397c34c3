// SPDX-License-Identifier: Apache-2.0
// A slot of the host tier by its number, from zero.
#pragma once
#include <cstdint>

namespace kvroof {

using SlotId = std::uint32_t;
inline constexpr SlotId kNoSlot = ~SlotId{0};

}  // namespace kvroof
