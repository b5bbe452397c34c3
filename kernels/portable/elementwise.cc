// SPDX-License-Identifier: Apache-2.0
// Specification: for each token, row_kernels.h's function on its row; rope_append rotates each head
// of q in place and each head of k on its way to the cache, by position * inverse_frequency, and
// copies v there.
#include "kernels/portable/elementwise.h"

#include <cmath>
#include <cstring>
#include <vector>

#include "kernels/portable/row_kernels.h"

namespace kvroof {
namespace {

// The rotation of one position. The angle is taken in double: a float product of position 10^5 and
// a frequency would be off by 10^-2.
struct Rotation {
  explicit Rotation(std::uint32_t half) : cosine(half), sine(half) {}

  void set(std::uint32_t position, const float* inverse_frequency) {
    for (std::size_t i = 0; i < cosine.size(); ++i) {
      const double angle = static_cast<double>(position) * inverse_frequency[i];
      cosine[i] = static_cast<float>(std::cos(angle));
      sine[i] = static_cast<float>(std::sin(angle));
    }
  }

  std::vector<float> cosine, sine;
};

void rope_append_token(const RopeAppendArgs& args, std::uint32_t token, const Rotation& rotation,
                       const RowKernels& rows) {
  const PagedKv& kv = args.kv.shape;
  const std::uint64_t head_bytes = kv.head_dim * bytes_of(kv.dtype);
  const std::uint32_t heads = args.heads, kv_heads = kv.kv_heads, position = args.past + token;
  const auto rotate = [&](const std::byte* in, std::byte* out) {
    rows.rotate(in, out, rotation.cosine.data(), rotation.sine.data(), kv.head_dim / 2);
  };
  std::byte* row = args.qkv + token * (heads + 2ull * kv_heads) * head_bytes;
  for (std::uint32_t h = 0; h < heads; ++h) rotate(row + h * head_bytes, row + h * head_bytes);
  for (std::uint32_t h = 0; h < kv_heads; ++h) {
    rotate(row + (heads + h) * head_bytes, args.kv.key(position, h));
    std::memcpy(args.kv.value(position, h), row + (heads + kv_heads + h) * head_bytes, head_bytes);
  }
}

}  // namespace

void norm(const NormArgs& args) {
  const RowKernels& rows = row_kernels(args.dtype);
  const std::uint64_t row_bytes = args.width * bytes_of(args.dtype);
#pragma omp parallel for schedule(static)
  for (std::uint32_t t = 0; t < args.tokens; ++t) {
    rows.norm(args.x ? args.x + t * row_bytes : nullptr, args.residual + t * row_bytes, args.weight,
              args.out + t * row_bytes, args.width, args.epsilon);
  }
}

void activation(const ActivationArgs& args) {
  const RowKernels& rows = row_kernels(args.dtype);
  const std::uint64_t row_bytes = args.width * bytes_of(args.dtype);
#pragma omp parallel for schedule(static)
  for (std::uint32_t t = 0; t < args.tokens; ++t) {
    const std::byte* gate = args.gate_up + t * 2 * row_bytes;
    rows.silu_multiply(gate, gate + row_bytes, args.out + t * row_bytes, args.width);
  }
}

Status rope_append(const RopeAppendArgs& args) {
  const std::uint64_t total = static_cast<std::uint64_t>(args.past) + args.tokens;
  if (Status status = args.kv.check_table(total); !status.ok()) return status;
  const RowKernels& rows = row_kernels(args.kv.shape.dtype);
#pragma omp parallel
  {
    Rotation rotation(args.kv.shape.head_dim / 2);
#pragma omp for schedule(static)
    for (std::uint32_t t = 0; t < args.tokens; ++t) {
      rotation.set(args.past + t, args.inverse_frequency);
      rope_append_token(args, t, rotation, rows);
    }
  }
  return {};
}

}  // namespace kvroof
