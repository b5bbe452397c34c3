// SPDX-License-Identifier: Apache-2.0
// What a submission does instead where it is to go wrong.
#pragma once
#include <cstdint>
#include <vector>

#include "backends/faults/faults.h"

namespace kvroof::faults {

using Body = decltype(Work::body);

// True where bytes don't arrive as they should.
bool damages(Fault fault);

// `body` as `fault` leaves it; `draw` says where it is cut and what is written. A body that can't
// be cut or garbled does nothing; a hold still holds. `regions` keeps what the result points to.
Body damaged(const Body& body, Fault fault, std::uint64_t draw, std::vector<Region>& regions);

}  // namespace kvroof::faults
