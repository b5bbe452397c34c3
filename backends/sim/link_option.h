// SPDX-License-Identifier: Apache-2.0
// Another host link on a simulated device: `link=pcie4x16`, `link=nvlink-c2c`, `link=5GB/s`.
#pragma once
#include <string>
#include <string_view>

#include "backends/sim/profile.h"

namespace kvroof::sim {

// The profile with its link exchanged: what all copies of a direction reach together, both
// directions together, and every copy curve. A copy keeps what it takes beyond its bytes over the
// old link (t - bytes / old rate), so that small regions stay as slow as they are. The rate of both
// directions together keeps its ratio to the inward one. `invalid` names what `text` may be.
Result<Profile> with_link(Profile profile, std::string_view text);

// The profile's own text with the link and the copy curves of `profile`, for the record.
std::string profile_text_with_link(std::string_view text, const Profile& profile);

}  // namespace kvroof::sim
