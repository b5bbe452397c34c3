// SPDX-License-Identifier: Apache-2.0
#include "kernels/portable/op_check.h"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>

namespace kvroof {
namespace {

using Bytes = std::uint64_t;

// Saturates, so that no hostile shape wraps round to a small need.
Bytes product(std::initializer_list<Bytes> factors) {
  Bytes out = 1;
  for (Bytes factor : factors) {
    if (__builtin_mul_overflow(out, factor, &out)) return UINT64_MAX;
  }
  return out;
}

Bytes sum(Bytes a, Bytes b) {
  Bytes out = 0;
  return __builtin_add_overflow(a, b, &out) ? UINT64_MAX : out;
}

struct Need {
  std::string_view name;
  const Span& span;
  Bytes bytes;
  Bytes element;  // bytes that the span's offset must be a multiple of
};

Status refuse(std::string_view op, const std::string& why) {
  return {Code::invalid, std::string(op) + ": " + why};
}

Status check_need(std::string_view op, const Need& need) {
  const std::string name(need.name);
  if (need.span.buffer == nullptr) return refuse(op, name + " has no buffer");
  const Bytes held = need.span.buffer->facts().bytes;
  if (need.span.offset > held || need.span.bytes > held - need.span.offset) {
    return refuse(op, name + " reaches outside its buffer of " + std::to_string(held) + " bytes");
  }
  if (need.span.bytes < need.bytes) {
    return refuse(op, name + " needs " + std::to_string(need.bytes) +
                          " bytes for this shape, not " + std::to_string(need.span.bytes));
  }
  if (need.span.offset % need.element != 0) {
    return refuse(op,
                  name + " must start at a multiple of " + std::to_string(need.element) + " bytes");
  }
  return {};
}

Status check_needs(std::string_view op, std::initializer_list<Need> needs) {
  for (const Need& need : needs) {
    if (Status status = check_need(op, need); !status.ok()) return status;
  }
  return {};
}

// A size of zero is a mistake of the caller's: no op has an empty meaning.
Status check_sizes(std::string_view op, std::initializer_list<Bytes> sizes) {
  if (std::find(sizes.begin(), sizes.end(), Bytes{0}) == sizes.end()) return {};
  return refuse(op, "every size must be at least one");
}

// From a cache's start to behind what block 0 holds at the last of its tokens and heads.
Bytes end_of_first_block(const PagedKv& kv, Bytes first, Bytes token_stride, Bytes head_stride,
                         Bytes bytes) {
  return sum(first, sum(product({kv.block_tokens - 1, token_stride}),
                        sum(product({kv.kv_heads - 1, head_stride}), bytes)));
}

bool all_multiples(std::initializer_list<Bytes> sizes, Bytes of) {
  return std::ranges::all_of(sizes, [of](Bytes size) { return size % of == 0; });
}

// Of scales, which a cache that is not quantised has none of.
Status check_scales(std::string_view op, const PagedKv& kv) {
  if (!is_quantised(kv.dtype)) return {};
  const Bytes each = scale_bytes_of(kv.dtype);
  if (!all_multiples({kv.k_scale_offset, kv.v_scale_offset, kv.block_stride, kv.scale_token_stride,
                      kv.scale_head_stride},
                     each)) {
    return refuse(op,
                  "the cache's scales must lie at multiples of their 4 bytes: choose block "
                  "tokens and heads whose values fill whole ones");
  }
  const Bytes end = end_of_first_block(kv, std::max(kv.k_scale_offset, kv.v_scale_offset),
                                       kv.scale_token_stride, kv.scale_head_stride, each);
  return check_need(op, {"cache", kv.cache, end, each});
}

Status check_kv(std::string_view op, const PagedKv& kv, Bytes positions, Bytes sequences,
                Bytes heads) {
  if (Status status = check_sizes(op, {kv.block_tokens, kv.kv_heads, kv.head_dim, heads});
      !status.ok()) {
    return status;
  }
  if (heads % kv.kv_heads != 0) return refuse(op, "heads must be a multiple of kv_heads");
  const Bytes element = bytes_of(kv.dtype);
  if (!all_multiples({kv.k_offset, kv.v_offset, kv.block_stride, kv.token_stride, kv.head_stride},
                     element)) {
    return refuse(op, "the cache's offsets and strides must be multiples of an element's bytes");
  }
  if (Status status = check_scales(op, kv); !status.ok()) return status;
  const Bytes end = end_of_first_block(kv, std::max(kv.k_offset, kv.v_offset), kv.token_stride,
                                       kv.head_stride, product({kv.head_dim, element}));
  const Bytes blocks = (positions + kv.block_tokens - 1) / kv.block_tokens;
  return check_needs(op, {{"cache", kv.cache, end, element},
                          {"block_table", kv.block_table, product({sequences, blocks, 4}), 4}});
}

// Saturates, as NarrowRow's own counts do not.
struct RowBytes {
  Bytes wide, narrow;
};

RowBytes bytes_of_row(const NarrowRow& row) {
  return {product({row.vectors, row.width, bytes_of(row.wide)}),
          product({row.vectors, sum(row.width, sizeof(float))})};
}

Status check_row(std::string_view op, std::uint32_t rows, const NarrowRow& row) {
  if (Status status = check_sizes(op, {rows, row.vectors, row.width}); !status.ok()) return status;
  if (row.width % 4 != 0) return refuse(op, "a vector's width must be a multiple of four");
  if (row.wide != DType::f32 && row.wide != DType::bf16) {
    return refuse(op, "rows are wide in f32 or bf16, not in " + std::string(name(row.wide)));
  }
  if (row.narrow != DType::fp8 && row.narrow != DType::int8) {
    return refuse(op, "rows are narrow in fp8 or int8, not in " + std::string(name(row.narrow)));
  }
  return {};
}

struct Checker {
  Status operator()(const Gemm& op) const {
    const Bytes in = bytes_of(op.dtype), out = bytes_of(op.out_dtype);
    if (Status status = check_sizes("gemm", {op.m, op.n, op.k}); !status.ok()) return status;
    return check_needs("gemm", {{"a", op.a, product({op.m, op.k, in}), in},
                                {"b", op.b, product({op.n, op.k, in}), in},
                                {"c", op.c, product({op.m, op.n, out}), out}});
  }

  Status operator()(const Attention& op) const {
    const Bytes element = bytes_of(op.dtype);
    const Bytes row = product({op.heads, op.kv.head_dim, element});
    if (Status status = check_sizes("attention", {op.tokens, op.sequences}); !status.ok()) {
      return status;
    }
    if (op.q_row_bytes % element != 0 || op.q_row_bytes < row) {
      return refuse("attention", "q_row_bytes must hold a row of q in whole elements");
    }
    if (!(op.scale > 0)) return refuse("attention", "scale must be positive");
    const Bytes positions = Bytes{op.past} + op.tokens, rows = Bytes{op.sequences} * op.tokens;
    if (Status status = check_kv("attention", op.kv, positions, op.sequences, op.heads);
        !status.ok()) {
      return status;
    }
    return check_needs("attention",
                       {{"q", op.q, sum(product({rows - 1, op.q_row_bytes}), row), element},
                        {"out", op.out, product({rows, row}), element}});
  }

  Status operator()(const Norm& op) const {
    const Bytes element = bytes_of(op.dtype), all = product({op.tokens, op.width, element});
    if (Status status = check_sizes("norm", {op.tokens, op.width}); !status.ok()) return status;
    if (op.x.buffer != nullptr) {
      if (Status status = check_need("norm", {"x", op.x, all, element}); !status.ok())
        return status;
    }
    return check_needs("norm", {{"residual", op.residual, all, element},
                                {"weight", op.weight, product({op.width, element}), element},
                                {"out", op.out, all, element}});
  }

  Status operator()(const RopeAppend& op) const {
    const PagedKv& kv = op.kv;
    if (Status status = check_sizes("rope_append", {op.tokens, op.sequences}); !status.ok()) {
      return status;
    }
    if (kv.head_dim % 2 != 0) return refuse("rope_append", "head_dim must be even");
    const Bytes positions = Bytes{op.past} + op.tokens, element = bytes_of(op.dtype);
    if (Status status = check_kv("rope_append", kv, positions, op.sequences, op.heads);
        !status.ok()) {
      return status;
    }
    const Bytes heads = Bytes{op.heads} + 2 * Bytes{kv.kv_heads};
    return check_needs(
        "rope_append",
        {{"qkv", op.qkv, product({op.sequences, op.tokens, heads, kv.head_dim, element}), element},
         {"inverse_frequency", op.inverse_frequency, product({kv.head_dim / 2, 4}), 4}});
  }

  Status operator()(const Activation& op) const {
    const Bytes element = bytes_of(op.dtype);
    if (Status status = check_sizes("activation", {op.tokens, op.width}); !status.ok())
      return status;
    return check_needs(
        "activation", {{"gate_up", op.gate_up, product({op.tokens, 2, op.width, element}), element},
                       {"out", op.out, product({op.tokens, op.width, element}), element}});
  }

  Status operator()(const Embedding& op) const {
    const Bytes element = bytes_of(op.dtype);
    if (Status status = check_sizes("embedding", {op.tokens, op.width, op.vocab}); !status.ok()) {
      return status;
    }
    return check_needs("embedding",
                       {{"ids", op.ids, product({op.tokens, 4}), 4},
                        {"table", op.table, product({op.vocab, op.width, element}), element},
                        {"out", op.out, product({op.tokens, op.width, element}), element}});
  }

  Status operator()(const Gather& op) const {
    if (Status status = check_sizes("gather", {op.rows, op.row_bytes}); !status.ok()) return status;
    return check_needs("gather", {{"source", op.source, op.row_bytes, 1},
                                  {"index", op.index, product({op.rows, 4}), 4},
                                  {"out", op.out, product({op.rows, op.row_bytes}), 1}});
  }

  Status operator()(const Scatter& op) const {
    if (Status status = check_sizes("scatter", {op.rows, op.row_bytes}); !status.ok())
      return status;
    return check_needs("scatter", {{"source", op.source, product({op.rows, op.row_bytes}), 1},
                                   {"index", op.index, product({op.rows, 4}), 4},
                                   {"out", op.out, op.row_bytes, 1}});
  }

  Status operator()(const MlaAttention& op) const {
    const Bytes element = bytes_of(op.dtype), latent = Bytes{op.kv_rank} + op.rope_dim;
    const Bytes qk = Bytes{op.nope_dim} + op.rope_dim, positions = Bytes{op.past} + op.tokens;
    const Bytes rows = Bytes{op.sequences} * op.tokens;
    Status status =
        check_sizes("mla_attention", {op.tokens, op.sequences, op.kv_rank, op.nope_dim, op.v_dim});
    if (status.ok()) {
      status = check_kv("mla_attention", op.kv, positions, op.sequences, op.heads);
    }
    if (!status.ok()) return status;
    if (op.kv.kv_heads != 1 || op.kv.head_dim != latent) {
      return refuse("mla_attention", "the cache must hold one head of kv_rank + rope_dim");
    }
    return check_needs(
        "mla_attention",
        {{"q", op.q, product({rows, op.heads, qk, element}), element},
         {"latents", op.latents, product({rows, latent, element}), element},
         {"expansion", op.expansion,
          product({op.heads, Bytes{op.nope_dim} + op.v_dim, op.kv_rank, element}), element},
         {"out", op.out, product({rows, op.heads, op.v_dim, element}), element}});
  }

  Status operator()(const MixtureOfExperts& op) const {
    const char* const name = "mixture_of_experts";
    const Bytes element = bytes_of(op.dtype);
    const Bytes rows = product({op.tokens, op.hidden, element});
    const Bytes down = product({op.experts, op.hidden, op.width, element});
    Status status = check_sizes(name, {op.tokens, op.hidden, op.width, op.experts, op.active});
    if (!status.ok()) return status;
    if (op.active > op.experts) return refuse(name, "more experts are active than there are");
    return check_needs(name,
                       {{"x", op.x, rows, element},
                        {"scores", op.scores, product({op.tokens, op.experts, element}), element},
                        {"gate_up", op.gate_up, product({2, down}), element},
                        {"down", op.down, down, element},
                        {"out", op.out, rows, element}});
  }

  Status operator()(const AllReduce& op) const {
    const Bytes element = bytes_of(op.dtype);
    if (Status status = check_sizes("all_reduce", {op.tokens, op.width, op.ranks}); !status.ok()) {
      return status;
    }
    return check_needs("all_reduce",
                       {{"data", op.data, product({op.tokens, op.width, element}), element}});
  }

  Status operator()(const Quantise& op) const {
    const Bytes element = bytes_of(op.row.wide);
    if (Status status = check_row("quantise", op.rows, op.row); !status.ok()) return status;
    const RowBytes row = bytes_of_row(op.row);
    return check_needs("quantise", {{"source", op.source, row.wide, element},
                                    {"index", op.index, product({op.rows, 4}), 4},
                                    {"out", op.out, product({op.rows, row.narrow}), 4}});
  }

  Status operator()(const Dequantise& op) const {
    const Bytes element = bytes_of(op.row.wide);
    if (Status status = check_row("dequantise", op.rows, op.row); !status.ok()) return status;
    const RowBytes row = bytes_of_row(op.row);
    return check_needs("dequantise", {{"source", op.source, product({op.rows, row.narrow}), 4},
                                      {"index", op.index, product({op.rows, 4}), 4},
                                      {"out", op.out, row.wide, element}});
  }

  Status operator()(const Checksum& op) const {
    const char* const name = "checksum";
    Status status = check_sizes(name, {op.rows, op.row_bytes, op.parts});
    if (!status.ok()) return status;
    if (op.row_bytes % op.parts != 0) return refuse(name, "its parts must divide row_bytes");
    const bool in_order = op.index.buffer == nullptr;
    const Bytes rows = in_order ? op.rows : 1, sums = product({op.rows, op.parts, 8});
    if (!in_order) status = check_need(name, {"index", op.index, product({op.rows, 4}), 4});
    if (!status.ok()) return status;
    return check_needs(
        name, {{"source", op.source, product({rows, op.row_bytes}), 1}, {"out", op.out, sums, 8}});
  }
};

}  // namespace

Status check_op(const Op& op) { return std::visit(Checker{}, op); }

}  // namespace kvroof
