// SPDX-License-Identifier: Apache-2.0
// The spans that an op names, and which of them it writes: for adapters that must know every buffer
// that a piece of work touches.
#pragma once
#include <array>

#include "backends/api/ops.h"

namespace kvroof {

struct Operands {
  std::array<Span, 5> read{};  // absent ones have no buffer
  std::array<Span, 2> written{};
};

Operands operands_of(const Op& op);

}  // namespace kvroof
