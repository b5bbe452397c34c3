// SPDX-License-Identifier: Apache-2.0
// One thread's copy with non-temporal stores: the bytes go past the cache, as a DMA engine's would.
#pragma once
#include <cstddef>
#include <cstdint>

namespace kvroof::host {

// The source and the destination must not overlap. Other threads that synchronise with this one see
// the bytes once it returns.
void stream_copy(std::byte* to, const std::byte* from, std::uint64_t bytes);

}  // namespace kvroof::host
