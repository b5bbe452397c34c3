// SPDX-License-Identifier: Apache-2.0
// Causal attention over a paged cache on this CPU, blocked as FlashAttention is (Dao et al., 2022):
// scores never leave the cache, the softmax runs along.
#pragma once
#include <cstddef>
#include <cstdint>

#include "backends/api/status.h"
#include "kernels/attention/scratch.h"
#include "kernels/attention/tile_kernels.h"
#include "kernels/portable/paged_view.h"

namespace kvroof {

// Addresses belong to this process and were checked against the shapes (op_check.h).
struct AttentionArgs {
  const std::byte* q;
  std::byte* out;
  std::uint64_t q_row_bytes;
  PagedView kv;
  std::uint32_t tokens, past, heads;
  float scale;
  std::uint32_t sequences = 1;
};

struct AttentionGeometry;  // sizes that follow from the arguments

// Keeps its scratch from call to call. One call at a time, on all cores.
class AttentionKernel {
 public:
  explicit AttentionKernel(Isa isa = best_isa()) : isa_(isa) {}

  // Fails, having written nothing, where the block table reaches outside the cache.
  Status run(const AttentionArgs& args);

 private:
  void run_sequence(const AttentionArgs& args);
  void run_streamed(const AttentionArgs& args, const TileKernels& kernels,
                    const AttentionGeometry& shape);
  void run_packed(const AttentionArgs& args, const TileKernels& kernels,
                  const AttentionGeometry& shape);
  void run_pass(const AttentionArgs& args, const TileKernels& kernels,
                const AttentionGeometry& shape, std::uint32_t from, std::uint32_t heads);

  const Isa isa_;
  Scratch packed_, tiles_;
};

}  // namespace kvroof
