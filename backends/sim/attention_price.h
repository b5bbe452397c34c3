// SPDX-License-Identifier: Apache-2.0
// What attention costs on a profile's device: over K and V, or over latents.
#pragma once
#include "backends/sim/price.h"

namespace kvroof::sim {

// `unsupported` where the profile has no figure for the head size, or for the KV's dtype.
Result<Price> price_of(const Profile& profile, const Attention& op);
Result<Price> price_of(const Profile& profile, const MlaAttention& op);

}  // namespace kvroof::sim
