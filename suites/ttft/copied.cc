// SPDX-License-Identifier: Apache-2.0
#include "suites/ttft/copied.h"

#include <algorithm>

namespace kvroof {
namespace {

// Chunks that layers with `window` load, of `chunks` in all.
std::uint64_t needed(std::uint64_t chunks, std::uint64_t chunk, std::uint64_t context,
                     std::uint32_t window) {
  const std::uint64_t past = std::min(chunks * chunk, context - 1);
  if (window == 0 || past + 1 <= window) return chunks;
  return chunks - std::min(chunks, (past + 1 - window) / chunk);
}

}  // namespace

Copied copied(const ModelShape& shape, const SessionSpec& spec, std::uint64_t context) {
  const std::uint64_t chunk = std::uint64_t{spec.block_tokens} * spec.blocks_per_chunk;
  Copied made;
  for (const KvLayout& kv : session_layouts(shape, spec)) {
    const std::uint64_t blocks =
        spec.blocks_per_chunk * needed(context / chunk, chunk, context, kv.window);
    made.bytes += blocks * kv.block_bytes();
    made.regions += blocks * kv.regions_per_block();
  }
  return made;
}

}  // namespace kvroof
