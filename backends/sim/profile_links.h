// SPDX-License-Identifier: Apache-2.0
// What must hold between a profile's rates.
#pragma once
#include "backends/sim/profile.h"

namespace kvroof::sim {

// Nothing is faster than the link: not a direction than its peak, and not a copy than its
// direction. Throws ProfileError, which names the key.
void check_links(const Profile& profile);

}  // namespace kvroof::sim
