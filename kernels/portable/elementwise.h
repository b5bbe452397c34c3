// SPDX-License-Identifier: Apache-2.0
// The element-wise ops over whole matrices, on all cores. Addresses belong to this process, were
// checked against the shapes (op_check.h), and dtype is f32 or bf16.
#pragma once
#include <cstddef>
#include <cstdint>

#include "backends/api/dtype.h"
#include "backends/api/status.h"
#include "kernels/portable/paged_view.h"

namespace kvroof {

struct NormArgs {
  const std::byte* x;  // may be null
  std::byte* residual;
  const std::byte* weight;
  std::byte* out;
  std::uint32_t tokens, width;
  float epsilon;
  DType dtype;
};
void norm(const NormArgs& args);

struct ActivationArgs {
  const std::byte* gate_up;
  std::byte* out;
  std::uint32_t tokens, width;
  DType dtype;
};
void activation(const ActivationArgs& args);

struct RopeAppendArgs {
  std::byte* qkv;
  const float* inverse_frequency;
  PagedView kv;
  std::uint32_t tokens, past, heads, sequences = 1;
};
// Fails, having written nothing, where the block table reaches outside the cache.
Status rope_append(const RopeAppendArgs& args);

}  // namespace kvroof
