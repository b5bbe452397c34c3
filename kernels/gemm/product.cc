// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm/product.h"

#include "kernels/portable/isa.h"

namespace kvroof {
namespace {

using Tag = dnnl::memory::format_tag;

dnnl::memory::data_type type_of(DType dtype) {
  return dtype == DType::bf16 ? dnnl::memory::data_type::bf16 : dnnl::memory::data_type::f32;
}

dnnl::memory::desc matrix(std::uint32_t rows, std::uint32_t columns, DType dtype, Tag tag) {
  return {{rows, columns}, type_of(dtype), tag};
}

dnnl::matmul::primitive_desc describe(const dnnl::engine& engine, const ProductShape& shape,
                                      bool choose) {
  const auto weights = matrix(shape.k, shape.n, shape.dtype, choose ? Tag::any : Tag::ba);
  return {dnnl::matmul::desc(matrix(shape.m, shape.k, shape.dtype, Tag::ab), weights,
                             matrix(shape.m, shape.n, shape.out_dtype, Tag::ab)),
          engine};
}

bool is_blocked(const dnnl::memory::desc& desc) {
  return desc.data.format_kind != dnnl_blocked || desc.data.format_desc.blocking.inner_nblks > 0;
}

}  // namespace

Product::Product(const dnnl::engine& engine, const ProductShape& shape)
    : engine_(engine), plain_(matrix(shape.k, shape.n, shape.dtype, Tag::ba)) {
  if (shape.packed) {
    primitive_desc_ = describe(engine, shape, true);
    reorders_ = is_blocked(primitive_desc_.weights_desc());
  }
  if (!reorders_) primitive_desc_ = describe(engine, shape, false);
  primitive_ = dnnl::matmul(primitive_desc_);
}

std::vector<std::int64_t> Product::order() const {
  const dnnl_memory_desc_t desc = primitive_desc_.weights_desc().data;
  const dnnl_blocking_desc_t& blocking = desc.format_desc.blocking;
  std::vector<std::int64_t> out{desc.format_kind, static_cast<std::int64_t>(desc.extra.flags),
                                blocking.strides[0], blocking.strides[1]};
  for (int i = 0; i < blocking.inner_nblks; ++i) {
    out.push_back(blocking.inner_blks[i]);
    out.push_back(blocking.inner_idxs[i]);
  }
  return out;
}

void Product::pack(dnnl::stream& stream, const std::byte* b, std::byte* packed) const {
  dnnl::memory from(plain_, engine_, const_cast<std::byte*>(b));
  dnnl::memory to(primitive_desc_.weights_desc(), engine_, packed);
  dnnl::reorder(from, to).execute(stream, from, to);
  stream.wait();
}

void Product::run(dnnl::stream& stream, const std::byte* a, const std::byte* b,
                  std::byte* c) const {
  const auto bind = [&](const dnnl::memory::desc& desc, const std::byte* data) {
    return dnnl::memory(desc, engine_, const_cast<std::byte*>(data));
  };
  primitive_.execute(stream, {{DNNL_ARG_SRC, bind(primitive_desc_.src_desc(), a)},
                              {DNNL_ARG_WEIGHTS, bind(primitive_desc_.weights_desc(), b)},
                              {DNNL_ARG_DST, bind(primitive_desc_.dst_desc(), c)}});
  stream.wait();
}

bool onednn_has_bf16() { return runs_here(Isa::avx512); }

}  // namespace kvroof
