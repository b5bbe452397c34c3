// SPDX-License-Identifier: Apache-2.0
// Parameters of a profile drawn between their low and high: how intervals of modelled figures come
// about.
#pragma once
#include <cstdint>

#include "backends/sim/profile.h"

namespace kvroof::sim {

// Every rate and time, uniform between its low and high and independent of the
// others; of a curve, one factor on all its points. Sizes of memory and peaks stay. Seed 0 is the
// profile as it is; the same seed draws the same on every machine.
Profile draw(const Profile& profile, std::uint64_t seed);

}  // namespace kvroof::sim
