// SPDX-License-Identifier: Apache-2.0
// One oneDNN matrix product of a fixed shape: its primitive, and the order it wants its weights in.
#pragma once
#include <cstddef>
#include <cstdint>
#include <dnnl.hpp>
#include <vector>

#include "backends/api/dtype.h"

namespace kvroof {

struct ProductShape {
  std::uint32_t m, n, k;
  DType dtype, out_dtype;
  bool packed;  // oneDNN chooses the order of the weights; else they lie as [n, k]
  auto operator<=>(const ProductShape&) const = default;
};

class Product {
 public:
  // Throws dnnl::error.
  Product(const dnnl::engine& engine, const ProductShape& shape);

  // Whether the weights have to be reordered first: oneDNN's blocked formats, which only its
  // blocked kernels ask for. A mere transposition is never worth a copy.
  bool reorders() const { return reorders_; }
  // What tells this order from another's; equal orders can share a packed copy.
  std::vector<std::int64_t> order() const;
  std::uint64_t packed_bytes() const { return primitive_desc_.weights_desc().get_size(); }
  void pack(dnnl::stream& stream, const std::byte* b, std::byte* packed) const;

  // `b` is packed where reorders(), else plain.
  void run(dnnl::stream& stream, const std::byte* a, const std::byte* b, std::byte* c) const;

 private:
  dnnl::engine engine_;
  dnnl::memory::desc plain_;
  dnnl::matmul::primitive_desc primitive_desc_;
  bool reorders_ = false;
  dnnl::matmul primitive_;
};

// Whether oneDNN multiplies bf16 on this CPU.
bool onednn_has_bf16();

}  // namespace kvroof
