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

// Waking a team takes 5 us, on a virtual machine up to 100: below this many elements one core is
// done sooner.
constexpr std::uint64_t kOneCore = 1 << 16;

// The rotations of one position after another. Angles are taken in double: a float product of
// position 10^5 and a frequency would be off by 10^-2. Cosines are dear: they are taken at every
// kStride-th position, and turned on by one position's angle from there, wherever a caller begins.
class Rotation {
 public:
  Rotation(std::uint32_t half, const float* inverse_frequency)
      : cosine(half), sine(half), frequency_(inverse_frequency), now_(half), step_(half) {
    set(1, step_);
  }

  void move_to(std::uint32_t position) {
    if (!anchored_ || position < position_ || position / kStride > position_ / kStride) {
      position_ = position / kStride * kStride;
      set(position_, now_);
      anchored_ = true;
    }
    for (; position_ < position; ++position_) turn();
    for (std::size_t i = 0; i < cosine.size(); ++i) {
      cosine[i] = static_cast<float>(now_.cosine[i]);
      sine[i] = static_cast<float>(now_.sine[i]);
    }
  }

  std::vector<float> cosine, sine;  // of the position moved to

 private:
  static constexpr std::uint32_t kStride = 16;
  struct Angles {
    explicit Angles(std::size_t count) : cosine(count), sine(count) {}
    std::vector<double> cosine, sine;
  };

  void set(std::uint32_t position, Angles& to) const {
    for (std::size_t i = 0; i < to.cosine.size(); ++i) {
      const double angle = static_cast<double>(position) * frequency_[i];
      to.cosine[i] = std::cos(angle);
      to.sine[i] = std::sin(angle);
    }
  }

  void turn() {
    double *const c = now_.cosine.data(), *const s = now_.sine.data();
    const double *const dc = step_.cosine.data(), *const ds = step_.sine.data();
#pragma omp simd
    for (std::size_t i = 0; i < cosine.size(); ++i) {
      const double turned = c[i] * dc[i] - s[i] * ds[i];
      s[i] = s[i] * dc[i] + c[i] * ds[i];
      c[i] = turned;
    }
  }

  const float* frequency_;
  Angles now_, step_;
  std::uint32_t position_ = 0;
  bool anchored_ = false;
};

// Row `index` of qkv, a token at `position` of the sequence whose cache is `own`.
void rope_append_row(const RopeAppendArgs& args, std::uint64_t index, const PagedView& own,
                     std::uint32_t position, const Rotation& rotation, const RowKernels& rows) {
  const PagedKv& kv = own.shape;
  const std::uint64_t head_bytes = kv.head_dim * bytes_of(kv.dtype);
  const std::uint32_t heads = args.heads, kv_heads = kv.kv_heads;
  const auto rotate = [&](const std::byte* in, std::byte* out) {
    rows.rotate(in, out, rotation.cosine.data(), rotation.sine.data(), kv.head_dim / 2);
  };
  std::byte* row = args.qkv + index * (heads + 2ull * kv_heads) * head_bytes;
  for (std::uint32_t h = 0; h < heads; ++h) rotate(row + h * head_bytes, row + h * head_bytes);
  for (std::uint32_t h = 0; h < kv_heads; ++h) {
    rotate(row + (heads + h) * head_bytes, own.key(position, h));
    std::memcpy(own.value(position, h), row + (heads + kv_heads + h) * head_bytes, head_bytes);
  }
}

}  // namespace

void norm(const NormArgs& args) {
  const RowKernels& rows = row_kernels(args.dtype);
  const std::uint64_t row_bytes = args.width * bytes_of(args.dtype);
  [[maybe_unused]] const bool many = std::uint64_t{args.tokens} * args.width > kOneCore;
#pragma omp parallel for schedule(static) if (many)
  for (std::uint32_t t = 0; t < args.tokens; ++t) {
    rows.norm(args.x ? args.x + t * row_bytes : nullptr, args.residual + t * row_bytes, args.weight,
              args.out + t * row_bytes, args.width, args.epsilon);
  }
}

void activation(const ActivationArgs& args) {
  const RowKernels& rows = row_kernels(args.dtype);
  const std::uint64_t row_bytes = args.width * bytes_of(args.dtype);
  // An exponential and a division an element.
  [[maybe_unused]] const bool many = std::uint64_t{args.tokens} * args.width > kOneCore / 4;
#pragma omp parallel for schedule(static) if (many)
  for (std::uint32_t t = 0; t < args.tokens; ++t) {
    const std::byte* gate = args.gate_up + t * 2 * row_bytes;
    rows.silu_multiply(gate, gate + row_bytes, args.out + t * row_bytes, args.width);
  }
}

Status rope_append(const RopeAppendArgs& args) {
  const std::uint64_t total = static_cast<std::uint64_t>(args.past) + args.tokens;
  if (Status status = args.kv.check_table(total, args.sequences); !status.ok()) return status;
  const RowKernels& rows = row_kernels(args.kv.shape.dtype);
  const std::uint64_t row = (args.heads + 2ull * args.kv.shape.kv_heads) * args.kv.shape.head_dim;
  const std::uint64_t all = std::uint64_t{args.sequences} * args.tokens;
  [[maybe_unused]] const bool many = all * row > kOneCore;
#pragma omp parallel if (many)
  {
    Rotation rotation(args.kv.shape.head_dim / 2, args.inverse_frequency);
#pragma omp for schedule(static)
    for (std::uint64_t i = 0; i < all; ++i) {
      const auto position = static_cast<std::uint32_t>(args.past + i % args.tokens);
      rotation.move_to(position);
      rope_append_row(args, i, args.kv.of_sequence(i / args.tokens, total), position, rotation,
                      rows);
    }
  }
  return {};
}

}  // namespace kvroof
