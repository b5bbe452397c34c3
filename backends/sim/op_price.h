// SPDX-License-Identifier: Apache-2.0
// What an op costs on a profile's device.
#pragma once
#include "backends/sim/price.h"

namespace kvroof::sim {

// `unsupported` where the profile has no figure for it.
Result<Price> price_of(const Profile& profile, const Op& op);

// A kernel that takes `seconds`, or what moving `least_bytes` through HBM takes, or the launch
// floor.
Price kernel_price(const Profile& profile, double seconds, double least_bytes, double bytes);

// A kernel that does nothing but move bytes through HBM.
Price memory_price(const Profile& profile, double bytes);

}  // namespace kvroof::sim
