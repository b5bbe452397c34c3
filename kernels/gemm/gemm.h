// SPDX-License-Identifier: Apache-2.0
// c = a * b^T on oneDNN, for weights b that stay the same from call to call.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

#include "backends/api/dtype.h"
#include "backends/api/status.h"
#include "kernels/gemm/weight_cache.h"

namespace kvroof {

// Addresses belong to this process and were checked against the shapes (op_check.h). dtype is f32
// or bf16, out_dtype f32 or dtype.
struct GemmArgs {
  const std::byte* a;
  const std::byte* b;
  std::byte* c;
  std::uint32_t m, n, k;
  DType dtype, out_dtype;
  bool keep_packed;  // every write to b is announced by forget(), so a packed copy may be kept
};

// run() from one thread at a time, on all cores; the rest from any.
class GemmKernel {
 public:
  // Packed weights are taken from `allocate`; where it has none left, b is used as it lies.
  explicit GemmKernel(PackAllocator allocate);
  ~GemmKernel();

  Status run(const GemmArgs& args);

  // The bytes are about to change, have changed, or go away: what was packed of them is dropped.
  void forget(const std::byte* data, std::uint64_t bytes) { cache_.forget(data, bytes); }
  void drop_packed() { cache_.clear(); }
  std::uint64_t packed_bytes() const { return cache_.bytes(); }

 private:
  class Products;

  void multiply(const GemmArgs& args);
  void multiply_rows(const GemmArgs& args, std::uint32_t first, std::uint32_t rows);
  void multiply_widened(const GemmArgs& args);

  WeightCache cache_;
  std::unique_ptr<Products> products_;
};

}  // namespace kvroof
