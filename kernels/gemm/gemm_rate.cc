// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm/gemm_rate.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "kernels/gemm/product.h"

namespace kvroof {
namespace {

// Small non-zero values, so that no product meets a denormal.
std::vector<std::byte> operand(std::uint64_t count, DType dtype) {
  std::vector<std::byte> out(count * bytes_of(dtype));
  constexpr unsigned char kThreeQuarters[] = {0x00, 0x00, 0x40, 0x3f};  // f32; its end is the bf16
  const std::uint64_t width = bytes_of(dtype);
  for (std::uint64_t i = 0; i < out.size(); ++i) {
    out[i] = std::byte{kThreeQuarters[4 - width + i % width]};
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
