// SPDX-License-Identifier: Apache-2.0
// Specification: c[i][j] = sum over l of a[i][l] * b[j][l], summed in f32 and rounded to out_dtype.
//
// Any M would mean a primitive each. A product is cut instead into rows that are a multiple of
// kGranule, whose primitives repeat from prompt to prompt, and a remainder below it.
#include "kernels/gemm/gemm.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "kernels/gemm/product.h"
#include "kernels/portable/row_kernels.h"

namespace kvroof {
namespace {

constexpr std::uint32_t kGranule = 64;
constexpr std::uint32_t kPlainRows = 16;           // up to here packing does not pay
constexpr std::uint64_t kWidenedFloats = 8 << 20;  // weights widened to f32 at a time

}  // namespace

// The primitives made so far.
class GemmKernel::Products {
 public:
  const Product& find(const ProductShape& shape) {
    const auto found = products_.find(shape);
    if (found != products_.end()) return found->second;
    return products_.emplace(shape, Product(engine_, shape)).first->second;
  }
  dnnl::stream& stream() { return stream_; }

 private:
  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  std::map<ProductShape, Product> products_;
};

GemmKernel::GemmKernel(PackAllocator allocate)
    : cache_(std::move(allocate)), products_(std::make_unique<Products>()) {}

GemmKernel::~GemmKernel() = default;

Status GemmKernel::run(const GemmArgs& args) try {
  if (args.dtype == DType::bf16 && !onednn_has_bf16()) {
    multiply_widened(args);
  } else {
    multiply(args);
  }
  return {};
} catch (const dnnl::error& error) {
  return {error.status == dnnl_out_of_memory ? Code::no_memory : Code::failed,
          std::string("oneDNN: ") + error.what()};
}

void GemmKernel::multiply(const GemmArgs& args) {
  const std::uint32_t even = args.m / kGranule * kGranule;
  if (even > 0) multiply_rows(args, 0, even);
  if (even < args.m) multiply_rows(args, even, args.m - even);
}

void GemmKernel::multiply_rows(const GemmArgs& args, std::uint32_t first, std::uint32_t rows) {
  ProductShape shape{rows,       args.n,         args.k,
                     args.dtype, args.out_dtype, args.keep_packed && rows > kPlainRows};
  const Product* product = &products_->find(shape);
  std::shared_ptr<std::byte> packed;
  if (product->reorders()) {
    const std::uint64_t bytes = std::uint64_t{args.n} * args.k * bytes_of(args.dtype);
    packed = cache_.get({args.b, bytes, product->order()}, product->packed_bytes(),
                        [&](std::byte* to) { product->pack(products_->stream(), args.b, to); });
    shape.packed = packed != nullptr;
    product = &products_->find(shape);
  }
  product->run(products_->stream(), args.a + std::uint64_t{first} * args.k * bytes_of(args.dtype),
               packed ? packed.get() : args.b,
               args.c + std::uint64_t{first} * args.n * bytes_of(args.out_dtype));
}

// bf16 where oneDNN has none: exact products in f32 of a few rows of b at a time.
void GemmKernel::multiply_widened(const GemmArgs& args) {
  const RowKernels& narrow = row_kernels(args.dtype);
  const RowKernels& out = row_kernels(args.out_dtype);
  const std::uint64_t k = args.k, n = args.n, m = args.m;
  const auto step = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(kWidenedFloats / k, 1, n));
  std::vector<float> a(m * k), b(step * k), c(m * step);
  narrow.to_f32(args.a, a.data(), m * k);
  for (std::uint64_t first = 0; first < n; first += step) {
    const auto count = static_cast<std::uint32_t>(std::min<std::uint64_t>(step, n - first));
    narrow.to_f32(args.b + first * k * bytes_of(args.dtype), b.data(), count * k);
    multiply({reinterpret_cast<const std::byte*>(a.data()),
              reinterpret_cast<const std::byte*>(b.data()), reinterpret_cast<std::byte*>(c.data()),
              args.m, count, args.k, DType::f32, DType::f32, false});
    for (std::uint64_t i = 0; i < m; ++i) {
      out.from_f32(c.data() + i * count, args.c + (i * n + first) * bytes_of(args.out_dtype),
                   count);
    }
  }
}

}  // namespace kvroof
