// SPDX-License-Identifier: Apache-2.0
// Checks of ops: what their shapes need of their spans.
#include <array>
#include <string>

#include "backends/sim/check.h"
#include "backends/sim/errors.h"

namespace kvroof::sim {
namespace {

struct Need {
  const Span& span;
  std::uint64_t bytes;
  const char* what;
};

Status check_all(std::initializer_list<Need> needs, const void* owner) {
  for (const Need& need : needs) {
    if (Status s = check_span(need.span, need.bytes, owner, need.what); !s.ok()) return s;
  }
  return {};
}

Status positive(std::initializer_list<std::uint64_t> sizes, const char* op) {
  for (std::uint64_t size : sizes) {
    if (size == 0) return invalid(std::string(op) + " must have every dimension above zero.");
  }
  return {};
}

std::uint64_t times(std::uint64_t a, std::uint64_t b, DType dtype) {
  return a * b * bytes_of(dtype);
}

Status check_paged(const PagedKv& kv, std::uint64_t length, std::uint32_t heads,
                   const void* owner) {
  const Status status =
      positive({kv.block_tokens, kv.kv_heads, kv.head_dim, heads, length}, "A paged KV cache");
  if (!status.ok()) return status;
  if (heads % kv.kv_heads != 0) {
    return invalid("Query heads must be a multiple of the KV heads.");
  }
  const std::uint64_t blocks = (length + kv.block_tokens - 1) / kv.block_tokens;
  const std::uint64_t last_element = (kv.block_tokens - 1) * kv.token_stride +
                                     (kv.kv_heads - 1) * kv.head_stride +
                                     kv.head_dim * bytes_of(kv.dtype);
  return check_all({{kv.cache, kv.k_offset + last_element, "The KV cache (K)"},
                    {kv.cache, kv.v_offset + last_element, "The KV cache (V)"},
                    {kv.block_table, blocks * bytes_of(DType::i32), "The block table"}},
                   owner);
}

Status check(const Gemm& op, const void* owner) {
  if (Status s = positive({op.m, op.n, op.k}, "A GEMM"); !s.ok()) return s;
  return check_all({{op.a, times(op.m, op.k, op.dtype), "GEMM operand a"},
                    {op.b, times(op.n, op.k, op.dtype), "GEMM operand b"},
                    {op.c, times(op.m, op.n, op.out_dtype), "GEMM result c"}},
                   owner);
}

Status check(const Attention& op, const void* owner) {
  if (op.tokens == 0) return invalid("Attention must have every dimension above zero.");
  const std::uint64_t length = std::uint64_t{op.past} + op.tokens;
  if (Status s = check_paged(op.kv, length, op.heads, owner); !s.ok()) return s;
  const std::uint64_t row = times(op.heads, op.kv.head_dim, op.kv.dtype);
  return check_all({{op.q, (op.tokens - 1) * op.q_row_bytes + row, "Attention's q"},
                    {op.out, op.tokens * row, "Attention's result"}},
                   owner);
}

Status check(const Norm& op, const void* owner) {
  if (Status s = positive({op.tokens, op.width}, "A norm"); !s.ok()) return s;
  const std::uint64_t bytes = times(op.tokens, op.width, op.dtype);
  const Span& x = op.x.buffer == nullptr ? op.residual : op.x;
  return check_all({{x, bytes, "A norm's x"},
                    {op.residual, bytes, "A norm's residual"},
                    {op.weight, times(1, op.width, op.dtype), "A norm's weight"},
                    {op.out, bytes, "A norm's result"}},
                   owner);
}

Status check(const RopeAppend& op, const void* owner) {
  if (op.tokens == 0) return invalid("Rope must have every dimension above zero.");
  const std::uint64_t length = std::uint64_t{op.past} + op.tokens;
  if (Status s = check_paged(op.kv, length, op.heads, owner); !s.ok()) return s;
  const std::uint64_t rows = std::uint64_t{op.heads} + 2 * op.kv.kv_heads;
  return check_all({{op.qkv, op.tokens * times(rows, op.kv.head_dim, op.kv.dtype), "Rope's qkv"},
                    {op.inverse_frequency, times(1, op.kv.head_dim / 2, DType::f32),
                     "Rope's inverse frequencies"}},
                   owner);
}

Status check(const Activation& op, const void* owner) {
  if (Status s = positive({op.tokens, op.width}, "An activation"); !s.ok()) return s;
  const std::uint64_t bytes = times(op.tokens, op.width, op.dtype);
  return check_all(
      {{op.gate_up, 2 * bytes, "An activation's input"}, {op.out, bytes, "An activation's result"}},
      owner);
}

Status check(const Embedding& op, const void* owner) {
  if (Status s = positive({op.tokens, op.width, op.vocab}, "An embedding"); !s.ok()) return s;
  return check_all({{op.ids, times(1, op.tokens, DType::i32), "An embedding's ids"},
                    {op.table, times(op.vocab, op.width, op.dtype), "An embedding's table"},
                    {op.out, times(op.tokens, op.width, op.dtype), "An embedding's result"}},
                   owner);
}

Status check_rows(std::uint32_t rows, std::uint64_t row_bytes, const Span& dense,
                  const Span& indexed, const Span& index, const void* owner) {
  if (Status s = positive({rows, row_bytes}, "Gather and scatter"); !s.ok()) return s;
  return check_all({{dense, rows * row_bytes, "The dense side of gather or scatter"},
                    {indexed, row_bytes, "The indexed side of gather or scatter"},
                    {index, times(1, rows, DType::i32), "The index of gather or scatter"}},
                   owner);
}

Status check(const Gather& op, const void* owner) {
  return check_rows(op.rows, op.row_bytes, op.out, op.source, op.index, owner);
}

Status check(const Scatter& op, const void* owner) {
  return check_rows(op.rows, op.row_bytes, op.source, op.out, op.index, owner);
}

}  // namespace

Status check_op(const Op& op, const void* owner) {
  return std::visit([&](const auto& each) { return check(each, owner); }, op);
}

}  // namespace kvroof::sim
