// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm/gemm_rate.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "kernels/gemm/product.h"

namespace kvroof {
namespace {

// Random signs and mantissas, between 0.5 and 1 in size: as unpredictable as weights are, and no
// denormals.
std::vector<std::byte> operand(std::uint64_t count, DType dtype) {
  std::vector<std::byte> out(count * bytes_of(dtype));
  std::uint32_t state = 1;
  const std::uint64_t width = bytes_of(dtype);
  for (std::uint64_t i = 0; i < out.size(); i += width) {
    state = state * 1664525u + 1013904223u;
    const std::uint32_t bits = 0x3f000000u | (state & 0x80000000u) | (state >> 8 & 0x007fffffu);
    const auto* const from = reinterpret_cast<const std::byte*>(&bits) + (4 - width);
    std::copy(from, from + width, out.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return out;
}

double best_seconds(const GemmShape& shape, DType dtype, bool packed, int repeats) {
  using Clock = std::chrono::steady_clock;
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  dnnl::stream stream(engine);
  const Product product(engine, {shape.m, shape.n, shape.k, dtype, dtype, packed});
  const auto a = operand(std::uint64_t{shape.m} * shape.k, dtype);
  auto b = operand(std::uint64_t{shape.n} * shape.k, dtype);
  std::vector<std::byte> c(std::uint64_t{shape.m} * shape.n * bytes_of(dtype));
  if (product.reorders()) {
    std::vector<std::byte> to(product.packed_bytes());
    product.pack(stream, b.data(), to.data());
    b.swap(to);
  }
  double best = 0;
  for (int i = 0; i < repeats; ++i) {
    const auto begin = Clock::now();
    product.run(stream, a.data(), b.data(), c.data());
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    best = i == 0 ? seconds : std::min(best, seconds);
  }
  return best;
}

}  // namespace

double gemm_rate(const GemmShape& shape, DType dtype, int repeats) {
  if (repeats < 1 || (dtype == DType::bf16 && !onednn_has_bf16())) return 0;
  const double seconds = std::min(best_seconds(shape, dtype, false, repeats),
                                  best_seconds(shape, dtype, true, repeats));
  return 2.0 * shape.m * shape.n * shape.k / seconds;
}

double best_gemm_rate(std::span<const GemmShape> shapes, DType dtype, int repeats) {
  double best = 0;
  for (const GemmShape& shape : shapes) best = std::max(best, gemm_rate(shape, dtype, repeats));
  return best;
}

}  // namespace kvroof
